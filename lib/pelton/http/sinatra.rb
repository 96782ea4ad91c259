# frozen_string_literal: true

module Pelton
  module HTTP
    # Where a server has `async.callback`, Sinatra's `stream` wants EventMachine. Applications that load pelton/eventmachine have
    # it; for the others this takes its place: the block runs in the request's fiber, and may wait.
    # @private
    module Sinatra
      class << self
        # For Sinatra, if it is loaded and no EventMachine of ours is.
        def install
          return unless defined?(::Sinatra::Helpers::Stream) && !::Sinatra.const_defined?(:EventMachine, false)
          ::Sinatra.const_set(:EventMachine, self) unless defined?(::EventMachine) && ::EventMachine.respond_to?(:_failed)
        end

        def next_tick(&block)
          @reactor = Reactor.current
          Pelton.next_tick(&block)
        end

        def defer = yield

        # Sinatra writes to a stream by this, from whichever thread the application does.
        def schedule(&block) = Pelton.running? ? yield : @reactor.schedule(&block)
      end
    end
  end
end
