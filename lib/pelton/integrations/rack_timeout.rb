# frozen_string_literal: true

module Pelton
  module Integrations
    # The gem rack-timeout raises in a request's thread, which is the thread of all requests here: the exception would
    # strike whichever request runs, or end the loop. On a reactor the request's time runs out by a timer of the loop
    # instead, and what rack-timeout then raises strikes the request's fiber, where it waits or as soon as it does.
    module RackTimeout
      # Has the one method of a thread that rack-timeout calls.
      class RequestFiber
        def initialize(reactor)
          @reactor = reactor
          @fiber = Fiber.current
        end

        def raise(exception, message = nil)
          @raised = message ? exception.exception(message) : exception
          @reactor.interrupt(@fiber, @raised)
        end

        # The request is over: what has not struck it must strike nothing else.
        def forget
          @reactor.forget_interrupt(@fiber, @raised) if @raised
        end
      end

      def timeout(seconds)
        return super unless Reactor.running? && seconds&.positive?
        request = RequestFiber.new(Reactor.current)
        timer = Pelton.add_timer(seconds) { @on_timeout.call(request) }
        begin
          yield
        ensure
          timer.cancel
          request.forget
        end
      end

      ::Rack::Timeout::Scheduler::Timeout.prepend(self)
    end
  end
end
