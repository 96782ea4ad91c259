# frozen_string_literal: true

module Pelton
  module Scheduler
    # The hook that Ruby 3.4 and later call before work for which they would release the GVL: Zlib's, and each system
    # call that opens, closes or examines files. Nearly all of it is done in microseconds, and the hook takes as long.
    #
    # So {Reactor} has the hook only while some place may be slow. Without it Ruby does the work in place, as it does
    # without a scheduler, and C notices the calls that take long (ruby/base/long_calls.h).
    module BlockingOperationWait
      HOOK = :blocking_operation_wait
      private_constant :HOOK

      class << self
        # A call has taken long: from now on Ruby asks before each. May be called on any thread, at any interrupt.
        def install
          SLOW_PLACES.alert
          Reactor.define_method(HOOK, instance_method(HOOK)) unless Reactor.method_defined?(HOOK)
        end

        # Takes the hook away.
        def remove
          Reactor.remove_method(HOOK) if Reactor.method_defined?(HOOK)
        end
      end

      # @param work [Proc, #call]
      def blocking_operation_wait(work)
        place = call_site or return without_this_hook(work)
        return Offload::POOL.call_to_end { work.call } unless in_place?(place)
        in_place(place) { work.call }.tap { BlockingOperationWait.remove if SLOW_PLACES.calm? }
      end
    end

    Pelton.register_upcalls(long_call: BlockingOperationWait.method(:install))
  end
end
