# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each query of a database, made when it has ended. Strings and numbers in its text become question marks: they may be secret.
    # @private
    class Queries
      LITERAL = /'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b/
      private_constant :LITERAL

      # @param system [String]
      def initialize(system) = @system = system

      def call(sql, seconds, error)
        ended = Time.now
        text = sql.dup.force_encoding(Encoding::UTF_8).scrub.gsub(LITERAL, "?")
        operation = text[/\A\s*(\w+)/, 1]&.upcase || "QUERY"
        attributes = {"db.system.name" => @system, "db.operation.name" => operation, "db.query.text" => text}
        span = OpenTelemetry.tracer.start_span(operation, kind: :client, start_timestamp: ended - seconds, attributes: attributes)
        if error
          span.record_exception(error)
          span.set_attribute("error.type", error.class.name)
          span.status = ::OpenTelemetry::Trace::Status.error
        end
        span.finish(end_timestamp: ended)
      end

      def to_proc = method(:call).to_proc
    end
  end
end
