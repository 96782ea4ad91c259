# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each command of memcached. Keys are not in the spans: they may be secret.
    # @private
    module Commands
      class << self
        def start(event)
          name = event.payload[:command].name
          event.payload[:span] = OpenTelemetry.tracer.start_span(name,
            kind: :client, attributes: {"db.system.name" => "memcached", "db.operation.name" => name})
        end

        def finish(event) = OpenTelemetry.finish(event.payload[:span], event)
      end

      Notifications.subscribe("command.memcached", self)
    end
  end
end
