# frozen_string_literal: true

require_relative "../sql_text"

module Pelton
  module OpenTelemetry
    # A span for each query of a database, made when it has ended. Values are neither in its text nor in what the server says about an error: they
    # may be secret.
    # @private
    class Queries
      LONGEST = 16_384 # bytes of a query's text
      SYSTEMS = {postgres: "postgresql", mysql: "mysql", sqlite: "sqlite"}.freeze
      private_constant :LONGEST, :SYSTEMS

      # @param database [#on_query]
      # @return [String] the name of its system in the conventions
      def self.system_of(database)
        type = database.database&.database_type if database.respond_to?(:database)
        SYSTEMS.fetch(type, "other_sql")
      end

      # @param system [String]
      def initialize(system) = @system = system

      def call(sql, seconds, error)
        ended = Time.now
        text = SQLText.without_values(sql, @system, limit: LONGEST)
        operation = text[/\A\s*(\w+)/, 1]&.upcase || "QUERY"
        attributes = {"db.system.name" => @system, "db.operation.name" => operation, "db.query.text" => text}
        span = OpenTelemetry.tracer.start_span(operation, kind: :client, start_timestamp: ended - seconds, attributes: attributes)
        fail(span, error) if error
        span.finish(end_timestamp: ended)
      end

      def to_proc = method(:call).to_proc

      private

      def fail(span, error)
        message = SQLText.message_without_values(error.message)
        lines = error.backtrace || []
        trace = ["#{lines.first}: #{message} (#{error.class})", *lines.drop(1).map { |line| "\tfrom #{line}" }].join("\n")
        span.record_exception(error, attributes: {"exception.message" => message, "exception.stacktrace" => trace})
        span.set_attribute("error.type", error.class.name)
        span.status = ::OpenTelemetry::Trace::Status.error
      end
    end
  end
end
