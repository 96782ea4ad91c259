# frozen_string_literal: true

require_relative "http"
require_relative "memcached"

begin
  require "opentelemetry"
rescue LoadError => error
  raise unless error.path == "opentelemetry"
  raise LoadError, "tracing needs OpenTelemetry's API: add gem \"opentelemetry-api\" to the Gemfile, and opentelemetry-sdk where spans are exported", cause: nil
end

module Pelton
  # Spans for OpenTelemetry: `require "pelton/opentelemetry"` makes one for each request that a server answers, each request of the HTTP client
  # and each command of memcached. {OpenTelemetry.trace} adds the queries of a database.
  #
  # Only OpenTelemetry's API is used: without its SDK the spans are empty and go nowhere. Names and attributes are those of the semantic conventions
  # (https://opentelemetry.io/docs/specs/semconv/).
  #
  # OpenTelemetry keeps the present span by fiber. Each request begins without one, and a task has that of the code which has spawned it. So no
  # span of one request gets into another. Callbacks, and fibers of Fiber.schedule, have none.
  module OpenTelemetry
    # @return [OpenTelemetry::Trace::Tracer]
    # @private
    def self.tracer = @tracer ||= ::OpenTelemetry.tracer_provider.tracer("pelton", VERSION)

    # @private
    def self.finish(span, event)
      if (error = event.error)
        span.record_exception(error)
        span.set_attribute("error.type", error.class.name)
        span.status = ::OpenTelemetry::Trace::Status.error
      end
      span.finish
    end

    # Makes a span of each query of a database.
    #
    #     Pelton::Record.connect(ENV.fetch("DATABASE_URL"))
    #     Pelton::OpenTelemetry.trace(Pelton::Record)
    #
    # @param database [#on_query] Pelton::Record, once it is connected, or what calls a block with SQL, seconds and an error, too
    # @param system [String, nil] "postgresql", "mysql", "sqlite"; nil: that of Pelton::Record's database. The text of another system's queries ends at its first
    #   quotation mark, since values cannot be told from names there
    # @return [void]
    def self.trace(database, system: nil)
      database.on_query(&Queries.new(system || Queries.system_of(database)))
      nil
    end
  end
end

require_relative "opentelemetry/inheritance"
require_relative "opentelemetry/server"
require_relative "opentelemetry/client"
require_relative "opentelemetry/commands"
require_relative "opentelemetry/queries"
