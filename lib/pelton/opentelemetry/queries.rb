# frozen_string_literal: true

require_relative "../sql_text"

module Pelton
  module OpenTelemetry
    # A span for each query of Sequel, made when it has ended. Values are neither in its text nor in what the server
    # says about an error: they may be secret.
    # @private
    module Queries
      LONGEST = 16_384 # bytes of a query's text
      SYSTEMS = {postgres: "postgresql", mysql: "mysql", sqlite: "sqlite"}.freeze
      private_constant :LONGEST, :SYSTEMS

      class << self
        def call(event)
          type = event.payload[:database].database_type
          text = SQLText.without_values(event.payload[:sql], type, limit: LONGEST)
          operation = text[/\A\s*(\w+)/, 1]&.upcase || "QUERY"
          attributes = {"db.system.name" => SYSTEMS.fetch(type, "other_sql"), "db.operation.name" => operation,
                        "db.query.text" => text}
          span = OpenTelemetry.tracer.start_span(operation, kind: :client, start_timestamp: event.time,
            attributes: attributes)
          fail(span, event.error) if event.error
          span.finish(end_timestamp: event.time + event.duration)
        end

        private

        def fail(span, error)
          message = SQLText.message_without_values(error.message)
          lines = error.backtrace || []
          trace = ["#{lines.first}: #{message} (#{error.class})",
            *lines.drop(1).map { |line| "\tfrom #{line}" }].join("\n")
          span.record_exception(error, attributes: {"exception.message" => message, "exception.stacktrace" => trace})
          span.set_attribute("error.type", error.class.name)
          span.status = ::OpenTelemetry::Trace::Status.error
        end
      end

      Notifications.subscribe("query.sequel", self)
    end
  end
end
