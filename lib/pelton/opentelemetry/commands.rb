# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each command of memcached: the instrument of clients that have no other. Keys are not in the spans: they may be secret.
    # @private
    class Commands
      # Makes it the instrument of each client that has none.
      module Default
        def initialize(*arguments, instrument: Commands.new, **options) = super

        Memcached::Client.prepend(self)
      end

      def call(command, _key)
        span = OpenTelemetry.tracer.start_span(command.name, kind: :client, attributes: {"db.system.name" => "memcached", "db.operation.name" => command.name})
        lambda do |_value, error|
          if error
            span.record_exception(error)
            span.set_attribute("error.type", error.class.name)
            span.status = ::OpenTelemetry::Trace::Status.error
          end
          span.finish
        end
      end
    end
  end
end
