# frozen_string_literal: true

module Pelton
  module Sequel
    class Pool < ::Sequel::ConnectionPool
      # A connection's place in the pool, and its holder.
      # @private
      class Slot
        include Opaque

        # @return [Object, nil] the driver's connection
        attr_accessor :connection

        # @return [Fiber, nil] its holder
        attr_accessor :fiber

        # @return [Float] when it was taken or given back, on {Clock}
        attr_accessor :since

        # @return [Float] when it was opened, on {Clock}
        attr_accessor :opened

        # @return [Float, nil] the {#since} for which {Leaks} has reported the holder
        attr_accessor :reported

        # @return [Boolean] whether it must not be used again
        attr_accessor :spoiled

        # @return [Boolean] whether a query was interrupted, which may still run at the server
        attr_accessor :interrupted

        # @return [Integer, nil] the index of its replica
        attr_accessor :replica

        # @return [String, nil] the running query
        attr_accessor :busy

        # @return [Shard]
        attr_reader :shard

        def initialize(shard)
          @shard = shard
        end

        # Frames of these folders say nothing about the program.
        LIBRARIES =
          %r{\A#{Regexp.escape(File.expand_path("../../..", __dir__))}/|
            /gems/(?:sequel|pg|trilogy|extralite)[^/]*/|
            /lib/pelton/(?:runtime\.rb|tasks/|waiting/)|
            \A<internal:}x

        # Describes the holder, for how long it has held the connection, and where. The backtrace is taken now, since
        # taking it with the connection would cost every query.
        #
        # @return [String]
        def inspect_holder(now = Clock.now)
          lines = backtrace
          line = lines.find { |one| !one.match?(LIBRARIES) } || lines.first
          "#{holder} for #{format("%.3f", now - since)} s#{", in a query" if busy}#{", at #{line}" if line}"
        end

        private

        def holder
          task = Pelton.tasks.find { |one| one.waiting_fiber.equal?(fiber) } if Pelton.running?
          task&.name ? "task #{task.name.inspect}" : "fiber #{fiber.object_id}"
        end

        # A fiber that is running on another thread has none.
        def backtrace
          fiber.backtrace || []
        rescue FiberError, ThreadError
          []
        end
      end
    end
  end
end
