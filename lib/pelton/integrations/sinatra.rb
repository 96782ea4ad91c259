# frozen_string_literal: true

module Pelton
  module Integrations
    # Sinatra's `stream` uses EventMachine on servers with `async.callback`. Applications that load pelton/eventmachine
    # have it; for other applications this module replaces it: the block runs in the request's fiber, and may wait.
    module Sinatra
      class << self
        def next_tick(&block)
          @reactor = Reactor.current
          Pelton.next_tick(&block)
        end

        def defer = yield

        # Sinatra writes to a stream through it, from any thread of the application.
        def schedule(&block) = Pelton.running? ? yield : @reactor.schedule(&block)
      end

      ::Sinatra.const_set(:EventMachine, self) unless defined?(EVENTMACHINE_FILES)
    end
  end
end
