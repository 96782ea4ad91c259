# frozen_string_literal: true

module Pelton
  # Says which fibers wait, and where, when their waits are a problem.
  # @private
  module Waiting
    MOST = 10 # fibers that a report names

    class << self
      # @param reactor [Reactor]
      # @return [Array<String>] what waits and where, for each parked fiber
      def places(reactor)
        tasks = reactor.tasks.to_h { |task| [task.send(:_waiting_fiber), task] }
        reactor.parked.map { |fiber| tasks[fiber]&.inspect || "a fiber at #{Task._where(fiber)&.first || "an unknown place"}" }
      end

      # @param places [Array<String>] as {places} returns them
      def report_given_up(places)
        Pelton.logger.error("#{places.size} fiber(s) still waited when the grace time was over (Pelton.run's grace:), and were ended:#{list(places)}")
      end

      private

      def list(places)
        lines = places.tally.map { |place, times| "\n    #{place}#{" (#{times} times)" if times > 1}" }
        lines.first(MOST).join + ((lines.size > MOST) ? "\n    and #{lines.size - MOST} more" : "")
      end
    end
  end
end
