# frozen_string_literal: true

module Pelton
  class PubSub
    # The variable of the environment that names the hub of a server's topics to its companion programs.
    # @private
    HUB = "PELTON_PUBSUB_HUB"

    # Seconds for the first look at a process's topics, and for its last messages.
    JOINING = 10
    PARTING = 1
    private_constant :JOINING, :PARTING

    @home_lock = Mutex.new # of joining
    @home_start = Mutex.new

    class << self
      # Gives this process the topics of a server or of other machines, if it is no server itself: a worker of jobs, a
      # console, a script. They are carried by a thread of its own, so the process needs no reactor to publish. After a
      # fork, the child joins anew.
      #
      # A program that a server runs as a companion (`companion "bin/jobs"`) finds the server's topics by itself. Others
      # need the address that the servers have: `PELTON_PUBSUB`.
      #
      # @param place [String, nil] `redis://...` or `postgres://...`
      # @return [Boolean] false: no place is known, so this process has its topics for itself
      # @raise [LoadError] the gem `redis-client` or `pg` is missing
      # @raise [TimeoutError] the thread that carries them does not answer
      def join(place = ENV[HUB] || ENV["PELTON_PUBSUB"])
        return false unless place
        @home_lock.synchronize do
          next if default._joined?
          in_home { default.join(place) }
          at_exit { in_home { default._part(PARTING) } if default._joined? }
        end
        true
      end

      # The reactor of a thread that works for all others of this process.
      # @private
      def home
        @home_start.synchronize do
          next @home if @home_thread&.alive? # a fork has no threads but its own
          started = Thread::Queue.new
          @home_thread = Thread.new do
            Thread.current.name = "pelton-pubsub"
            Pelton.run do
              started << Reactor.current
              Operation.new.await
            end
          end
          @home = started.pop
        end
      end

      private

      def in_home
        done = Thread::Queue.new
        home.next_tick do
          Pelton.spawn(transient: true, detached: true) do
            done << [yield]
          rescue => error
            done << error
          end
        end
        result = Pelton.timeout(JOINING) { done.pop }
        raise result if result.is_a?(Exception)
      end
    end
  end
end
