# frozen_string_literal: true

require "json"

module Pelton
  module Cluster
    # The worker as it sees itself, in its own process.
    class Child
      INTERVAL = 1 # seconds from one report to the next

      # @return [Integer] its seat: 0 for the first. The one who replaces it has the same
      attr_reader :index

      # @return [Sockets] what to listen on
      attr_reader :listening

      def initialize(index, listening, pipe)
        @index = index
        @listening = listening
        @pipe = pipe
        @on_stop = nil
        @stats = -> { {} }
      end

      # Descriptors for {Listener.for_fd}, this process's own.
      #
      # @return [Array<Integer>]
      def sockets = listening.addresses.map { |address| socket(address) }

      # @return [Integer] the descriptor of one address, the caller's to close
      def socket(address) = listening.descriptor(address)

      # Sets what is called when the worker is to stop: it closes what listens and may wait until requests are done. The
      # worker ends when it returns.
      #
      # @yieldparam final [Boolean] whether no other process will accept what waits on the sockets: then those who want to
      #   lose nobody call {Listener#finish}
      def on_stop(&block) = @on_stop = block

      # Sets what is called when the master was sent HUP.
      def on_hangup(&block) = @on_hangup = block

      # Sets what is asked, each second, for the worker's figures: a Hash that JSON can hold.
      def stats(&block) = @stats = block

      # Turns a reactor until the worker is told to stop, or until its master is gone.
      #
      # @param load [Proc, nil] called before, where nothing can be held up
      def run(load = nil)
        %w[INT HUP].each { |name| Signal.trap(name, "IGNORE") } # Ctrl-C is for the master, which tells the workers
        load&.call
        Pelton.run do
          reactor = Reactor.current
          Signal.trap("TERM") { reactor.schedule { stop(true) } }
          yield self
          tell("ready")
          report
          Pelton.add_periodic_timer(INTERVAL) { report }
          stop(wait_for_the_master != "stop\n")
        end
      end

      private

      # Until it says "stop", because others go on; or "finish", because all end; or has ended itself.
      # @asynchronous
      def wait_for_the_master
        line = @pipe.gets
        while line == "hangup\n"
          @on_hangup&.call
          line = @pipe.gets
        end
        line
      rescue SystemCallError
        nil
      end

      def stop(final)
        return if @stopping
        @stopping = true
        @listening&.close # or the sockets would be open until this process has ended
        Pelton.spawn do
          @on_stop&.call(final)
        ensure
          report
          Pelton.stop
        end
      end

      def report = tell("stats #{JSON.generate(@stats.call)}")

      # Without waiting: a master that does not read has not gone on without us. A report that does not fit is left out.
      def tell(line)
        @pipe.write_nonblock("#{line}\n", exception: false)
      rescue SystemCallError
        nil # the master is gone, and its end of the pipe says so
      end
    end
  end
end
