# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # Tasks, timers and other code for later have the context of the code that has spawned them, and leave none on their
    # fibers.
    Inherited.carry do
      context = ::OpenTelemetry::Context.current
      lambda do |block|
        ::OpenTelemetry::Context.clear
        ::OpenTelemetry::Context.attach(context)
        block.call
      ensure
        ::OpenTelemetry::Context.clear
      end
    end
  end
end
