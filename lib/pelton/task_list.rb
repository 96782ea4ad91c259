# frozen_string_literal: true

require_relative "../pelton"

module Pelton
  # The tasks of a reactor and the other fibers that wait in it, such as requests and callbacks, as data and as text.
  # @private
  module TaskList
    MOST = 1000 # rows

    class << self
      # Any thread may call it.
      #
      # @param reactor [Reactor]
      # @return [Array<Hash{Symbol => Object}>] name, state, origin ("FILE:LINE", nil: not a task) and backtrace of each
      def of(reactor)
        tasks = reactor.tasks
        own = tasks.map { |task| task.send(:_waiting_fiber) }
        rows = tasks.first(MOST).map do |task|
          {name: task.name, state: task.activity, origin: task.origin, transient: task.transient?, backtrace: task.backtrace || []}
        end
        others = (reactor.parked.uniq - own).first(MOST - rows.size)
        rows + others.map { |fiber| {name: nil, state: :waiting, origin: nil, transient: false, backtrace: Task._where(fiber) || []} }
      end

      # @param rows [Array<Hash>] as {of} returns them; keys may be Strings
      # @return [String]
      def text(rows)
        return "no tasks\n" if rows.empty?
        rows.map { |row| describe(row.transform_keys(&:to_sym)) }.join("\n")
      end

      # Writes the list to Pelton.logger, in a thread of its own, so that a trap handler may call it.
      #
      # @return [Thread]
      def log(reactor) = Thread.new { Pelton.logger.warn("tasks of process #{Process.pid}\n#{text(of(reactor))}") }

      # Writes the list of the calling thread's reactor to the log at each signal.
      #
      # @return the handler that was set before
      def log_at(signal)
        reactor = Reactor.current
        Signal.trap(signal) { log(reactor) }
      end

      private

      def describe(row)
        kind = row[:origin] ? "task" : "fiber"
        head = [kind, row[:name]&.inspect, row[:state], ("transient" if row[:transient]), ("from #{row[:origin]}" if row[:origin])]
        [head.compact.join(" "), *row[:backtrace].map { |line| "    #{line}" }].map { |line| "#{line}\n" }.join
      end
    end
  end
end
