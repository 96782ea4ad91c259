# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    # Adds to ActiveRecord::ConnectionTimeoutError who holds the pool's connections, for how long, and at which line.
    # The lines are those at the time of the error: recording them at checkout would cost every query.
    module ConnectionHolders
      # Holders to name, the longest first.
      MOST = 10

      # Records when a connection was checked out.
      module Lease
        # @return [Float, nil] on {Clock}
        attr_reader :leased_at

        def lease = super.tap { @leased_at = Clock.now }
      end

      def self.install
        ::ActiveRecord::ConnectionAdapters::ConnectionPool.prepend(self)
        ::ActiveRecord::ConnectionAdapters::AbstractAdapter.prepend(Lease)
      end

      # The tasks that wait, with a name that matches, and have held a connection of any pool for long.
      #
      # @param seconds [Numeric]
      # @param pattern [Regexp]
      # @return [Hash{Task => String}] how long, and at which line of the application
      # @private
      def self.waiting(seconds, pattern)
        now = Clock.now
        tasks = Pelton.tasks.select { |task| task.name&.match?(pattern) }.to_h { |task| [task.waiting_fiber, task] }
        ::ActiveRecord::Base.connection_handler.connection_pool_list(:all).flat_map do |pool|
          pool.connections.filter_map do |connection|
            task = tasks[connection.owner]
            next unless task && connection.in_use? && connection.leased_at && now - connection.leased_at > seconds
            [task, "for #{format("%.1f", now - connection.leased_at)} s, at #{line(task.backtrace || [])}"]
          end
        end.to_h
      end

      # The first line of the application, if there is one.
      # @private
      def self.line(lines)
        (::Rails.backtrace_cleaner.clean(lines).first if defined?(::Rails.backtrace_cleaner)) ||
          lines.find { |line| !line.include?("/gems/") } || lines.first
      end

      # @raise [ActiveRecord::ConnectionTimeoutError]
      def checkout(...)
        super
      rescue ::ActiveRecord::ConnectionTimeoutError => error
        raise error, "#{error.message}.#{held_by}", error.backtrace, cause: error.cause
      end

      private

      def held_by
        now = Clock.now
        held = connections.select(&:in_use?).sort_by { |connection| connection.leased_at || now }
        return if held.empty?
        " Held by #{held.first(MOST).map { |connection| describe_holder(connection, now) }.join("; by ")}" \
          "#{" and #{held.size - MOST} more" if held.size > MOST}"
      end

      def describe_holder(connection, now)
        owner = connection.owner
        line = ConnectionHolders.line(holder_backtrace(owner))
        "#{holder_name(owner)} for #{format("%.3f", now - (connection.leased_at || now))} s#{", at #{line}" if line}"
      end

      def holder_name(owner)
        return "thread #{owner.name&.inspect || owner.object_id}" if owner.is_a?(Thread)
        task = Pelton.tasks.find { |one| one.waiting_fiber.equal?(owner) } if Pelton.running?
        task&.name ? "task #{task.name.inspect}" : "fiber #{owner.object_id}"
      end

      # A fiber that is running on another thread has none.
      def holder_backtrace(owner)
        (owner.is_a?(Thread) ? owner.backtrace : Task.place_of(owner)) || []
      rescue FiberError, ThreadError
        []
      end
    end
  end
end
