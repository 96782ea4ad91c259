# frozen_string_literal: true

module Pelton
  # Says which fibers wait, and where, when their waits are a problem.
  # @private
  module Waiting
    MOST = 10 # fibers that a report names

    class << self
      # @param reactor [Reactor]
      # @param fibers [Array<Fiber>] that are parked there
      # @return [Array<String>] what waits and where, for each fiber
      def places(reactor, fibers = reactor.parked)
        tasks = reactor.tasks.to_h { |task| [task.waiting_fiber, task] }
        fibers.map do |fiber|
          tasks[fiber]&.inspect || "a fiber at #{Task.place_of(fiber)&.first || "an unknown place"}"
        end
      end

      # @param places [Array<String>] as {places} returns them
      def report_given_up(places)
        Pelton.logger.error("#{places.size} fiber(s) still waited when the grace time was over (Pelton.run's " \
          "grace:), and were ended:#{list(places)}")
      end

      # The loop has no timer and no descriptor that could wake a fiber, and has waited for a while.
      #
      # @return [Boolean] false when a thread may wake a fiber yet
      def report_silence(reactor)
        if Thread.list.any? { |thread| !thread.equal?(Thread.current) && !thread.inspect.end_with?(" sleep_forever>") }
          return false
        end
        places = places(reactor, reactor.parked.reject { |fiber| sleeps?(fiber) })
        if places.any?
          Pelton.logger.warn("nothing but a signal's handler can wake these fibers: no timer, socket, child or " \
            "running thread is left:#{list(places)}")
        end
        true
      end

      private

      # Kernel#sleep without a time waits for ever on purpose. ConditionVariable#wait sleeps as well.
      def sleeps?(fiber)
        innermost, caller = Task.place_of(fiber)
        innermost&.match?(/[`'](?:Kernel#)?sleep'\z/) && !caller&.match?(/[`'#]wait'\z/)
      end

      def list(places)
        lines = places.tally.map { |place, times| "\n    #{place}#{" (#{times} times)" if times > 1}" }
        lines.first(MOST).join + ((lines.size > MOST) ? "\n    and #{lines.size - MOST} more" : "")
      end
    end

    Pelton.register_upcalls(waiting_places: method(:places), report_silence: method(:report_silence),
      report_given_up: method(:report_given_up))
  end
  private_constant :Waiting
end
