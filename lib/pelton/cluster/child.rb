# frozen_string_literal: true

require "json"
require_relative "../tasks/list"

module Pelton
  module Cluster
    # A worker inside its own process.
    class Child
      INTERVAL = 1 # seconds between two reports

      # @return [Integer] its number: 0 for the first worker. A worker that replaces it gets the same
      attr_reader :index

      def initialize(index, listening, pipe)
        @index = index
        @listening = listening
        @pipe = pipe
        @stats = -> { {} }
        @readiness = -> {}
        @tasks = TaskList.method(:of)
        @purge = ->(_) { 0 }
      end

      # @return [Sockets] the sockets to listen on
      attr_reader :listening

      # Descriptors of this process for {Listener.for_fd}.
      #
      # @return [Array<Integer>] which the caller closes
      def sockets = listening.addresses.map { |address| socket(address) }

      # @return [Integer] the descriptor of one address, which the caller closes
      def socket(address) = listening.descriptor(address)

      # Calls the block when the worker must stop. The block closes the listeners, and may wait until requests are done.
      # The worker ends when the block returns.
      #
      # @yieldparam final [Boolean] whether no other process will accept the connections in the sockets' backlog. Then
      #   {Listener#finish} accepts them
      def on_stop(&block) = @on_stop = block

      # Calls the block when the master gets HUP.
      def on_hangup(&block) = @on_hangup = block

      # Calls the block each second for the worker's stats.
      #
      # @yieldreturn [Hash] that can be written as JSON
      def stats(&block) = @stats = block

      # Calls the block when somebody asks for the worker's tasks, instead of {TaskList.of}. Any thread may call it.
      #
      # @yieldparam reactor [Reactor]
      # @yieldreturn [Array<Hash>] as {TaskList.of} returns them
      def tasks(&block) = @tasks = block

      # Calls the block when somebody asks the master whether requests may come.
      #
      # @yieldreturn [String, nil] why they may not. The block may wait
      def readiness(&block) = @readiness = block

      # Whether the master has ended. Asked when the worker stops, as it takes what the master may still have to say.
      # Process.ppid would not tell: a killed process closes its pipes before its children get another parent.
      #
      # @return [Boolean]
      def orphaned?
        until (said = @pipe.read_nonblock(4096, exception: false)) == :wait_readable
          return true unless said
        end
        false
      rescue SystemCallError
        true
      end

      # Calls the block when somebody purges the caches.
      #
      # @yieldparam path [String]
      # @yieldreturn [Integer] how many responses were removed
      def purge(&block) = @purge = block

      # Runs a reactor until the master stops the worker, or until the master has ended.
      #
      # @param load [Proc, nil] called before the reactor runs, before any request waits
      # @yieldparam child [Child] inside {Pelton.run}
      def run(load = nil)
        # Ctrl-C reaches all processes, but only the master stops workers
        %w[INT HUP].each { |name| Signal.trap(name, "IGNORE") }
        load&.call
        Pelton.run do
          reactor = Reactor.current
          Signal.trap("TERM") { reactor.schedule { stop(true) } }
          TaskList.log_at("TTIN") { @tasks.call(reactor) }
          Watchdog.quietly { yield self } # no request waits yet
          notify("ready")
          report
          Pelton.add_periodic_timer(INTERVAL) { report }
          stop(wait_for_master != "stop\n")
        end
      end

      private

      # Waits for the master's "stop", when other workers go on, for "finish", when all end, or for the master's own
      # end.
      # @asynchronous
      def wait_for_master
        while (line = @pipe.gets)
          case line
          when "hangup\n" then @on_hangup&.call
          when "tasks\n" then notify_tasks
          when "readiness\n" then Pelton.spawn(detached: true) do
            notify("readiness #{JSON.generate([@readiness.call])}")
          end
          when /\Apurge (\d+) (.*)\n/n then notify("purged #{JSON.generate([$1.to_i, @purge.call($2)])}")
          else return line
          end
        end
      rescue SystemCallError
        nil
      end

      def stop(final)
        return if @stopping
        @stopping = true
        @listening&.close # otherwise the sockets stay open until this process ends
        Pelton.spawn(detached: true) do
          @on_stop&.call(final)
        ensure
          report
          Pelton.stop
        end
      end

      # In a task of its own, because it waits until the master has read the list.
      def notify_tasks
        text = "tasks #{JSON.generate(@tasks.call(Reactor.current))}\n"
        Pelton.spawn(detached: true) do
          @writing = true
          @pipe.write(text)
        rescue SystemCallError
          nil # the master has ended
        ensure
          @writing = false
        end
      end

      # The master does not load what the application loads, so it is told what that counts.
      def report
        added = Metrics.families
        notify("families #{JSON.generate(added.transform_values(&:to_a))}") unless added.empty?
        notify("stats #{JSON.generate(@stats.call.merge(Metrics.stats))}")
      end

      # Sends a line to the master, without waiting: a master that is busy still counts as alive. A report that does not
      # fit into the pipe is dropped.
      def notify(line)
        return if @writing # a report within a list would spoil both
        @pipe.write_nonblock("#{line}\n", exception: false)
      rescue SystemCallError
        nil # the master has ended, and wait_for_master sees it
      end
    end
  end
end
