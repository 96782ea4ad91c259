# frozen_string_literal: true

module Pelton
  module Database
    class Pool < Sequel::ConnectionPool
      # A connection's place in the pool, and who holds it.
      # @private
      class Slot
        include Opaque

        # @return [Object, nil] the driver's connection
        attr_accessor :connection

        # @return [Fiber, nil] who holds it
        attr_accessor :fiber

        # @return [Float] since when it is held, or idle, on {Clock}
        attr_accessor :since

        # @return [Float] when it was opened, on {Clock}
        attr_accessor :opened

        # @return [Float, nil] {#since}, when {Leaks} has named the holder
        attr_accessor :reported

        # @return [Boolean] whether it must not be used again
        attr_accessor :spoiled

        # @return [Boolean] whether an exception has interrupted a query on it, which may still run at the server
        attr_accessor :interrupted

        # @return [Integer, nil] the replica that it leads to
        attr_accessor :replica

        # @return [String, nil] the query that runs on it
        attr_accessor :busy

        # @return [Shard]
        attr_reader :shard

        def initialize(shard)
          @shard = shard
        end

        # These frames say nothing about the program.
        LIBRARIES = %r{\A#{Regexp.escape(File.expand_path("../../..", __dir__))}/|/pelton-record[^/]*/lib/|/gems/(?:sequel|pg|trilogy|extralite)[^/]*/|/lib/pelton/(?:scheduler|operation|runtime|timeout)\.rb|\A<internal:}

        # Who holds it, for how long, and where. The backtrace is taken now, not when the connection was given away: that would cost
        # every query.
        #
        # @return [String]
        def inspect_holder(now = Clock.now)
          lines = backtrace
          line = lines.find { |one| !one.match?(LIBRARIES) } || lines.first
          "#{holder} for #{format("%.3f", now - since)} s#{", in a query" if busy}#{", at #{line}" if line}"
        end

        private

        def holder
          task = Pelton.tasks.find { |one| one.send(:_waiting_fiber).equal?(fiber) } if Pelton.running?
          task&.name ? "task #{task.name.inspect}" : "fiber #{fiber.object_id}"
        end

        # A fiber of another thread that runs at this moment has none.
        def backtrace
          fiber.backtrace || []
        rescue FiberError, ThreadError
          []
        end
      end
    end
  end
end
