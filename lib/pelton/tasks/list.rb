# frozen_string_literal: true

require_relative "../../pelton"

module Pelton
  # The requests and tasks of a reactor, and the other fibers that wait in it, such as callbacks, as data and as text.
  # @private
  module TaskList
    MOST = 1000 # rows

    class << self
      # Any thread may call it.
      #
      # @param reactor [Reactor]
      # @param requests [Array<Hash>] the requests of a server: `name`, `age` in seconds, `state`, and `fiber`
      # @return [Array<Hash{Symbol => Object}>] name, age (nil: not known), state, origin ("FILE:LINE", nil: not a task)
      #   and backtrace of each: first the requests, the oldest first, and those whose response has begun after the
      #   others; then the tasks
      def of(reactor, requests: [])
        parked = reactor.parked.to_h { |fiber| [fiber, true] }
        rows =
          requests.max_by(MOST) { |request| [(request[:state] == :sending) ? 0 : 1, request[:age]] }.map do |request|
            request_row(request, parked.key?(request[:fiber]))
          end
        tasks = reactor.tasks
        known = tasks.map { |task| task.waiting_fiber } + requests.map { |request| request[:fiber] }
        rows += tasks.first(MOST - rows.size).map do |task|
          {name: task.name, age: task.age&.round(3), state: task.activity, origin: task.origin,
           transient: task.transient?, backtrace: task.backtrace || []}
        end
        others = (parked.keys - known).first(MOST - rows.size)
        rows +
          others.map do |fiber|
            {name: nil, age: nil, state: :waiting, origin: nil, transient: false, backtrace: Task.place_of(fiber) || []}
          end
      end

      # @param rows [Array<Hash>] as {of} returns them; keys may be Strings
      # @return [String]
      def text(rows)
        return "no tasks\n" if rows.empty?
        rows.map { |row| describe(row.transform_keys(&:to_sym)) }.join("\n")
      end

      # Writes a list to Pelton.logger, in a thread of its own, so that a trap handler may call it.
      #
      # @yieldreturn [Array<Hash>] as {of} returns it
      # @return [Thread]
      def log = Thread.new { Pelton.logger.warn("tasks of process #{Process.pid}\n#{text(yield)}") }

      # Writes a list to the log at each signal: that of the calling thread's reactor, or what the block returns.
      #
      # @yieldreturn [Array<Hash>] as {of} returns it
      # @return the handler that was set before
      def log_at(signal, &rows)
        reactor = Reactor.current
        rows ||= -> { of(reactor) }
        Signal.trap(signal) { log(&rows) }
      end

      private

      def request_row(request, parked)
        backtrace = Task.place_of(request[:fiber]) if parked
        {name: request[:name], age: request[:age].round(3), state: (parked &&
          request[:state] == :running) ? :waiting : request[:state], origin: nil, transient: false,
         backtrace: backtrace || []}
      end

      def describe(row)
        kind = if row[:origin] then "task"
        else
          row[:age] ? "request" : "fiber"
        end
        age = format("for %.3g s", row[:age]) if row[:age]
        head = [kind, row[:name]&.inspect, row[:state], age, ("transient" if row[:transient]),
          ("from #{row[:origin]}" if row[:origin])]
        [head.compact.join(" "), *row[:backtrace].map { |line| "    #{line}" }].map { |line| "#{line}\n" }.join
      end
    end
  end
  private_constant :TaskList
end
