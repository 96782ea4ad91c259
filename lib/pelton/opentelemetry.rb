# frozen_string_literal: true

require_relative "http"
require_relative "memcached"

Pelton.require_gem "opentelemetry", "tracing needs OpenTelemetry's API: add gem \"opentelemetry-api\" to the " \
  "Gemfile, and opentelemetry-sdk where spans are exported"

module Pelton
  # Spans for OpenTelemetry: `require "pelton/opentelemetry"` makes one for each request that a server answers, each
  # request of the HTTP client, each command of memcached, and each query of pelton-sequel's databases.
  #
  # Only OpenTelemetry's API is used: without its SDK the spans are empty and go nowhere. Names and attributes are those
  # of the semantic conventions (https://opentelemetry.io/docs/specs/semconv/).
  #
  # OpenTelemetry keeps the present span by fiber. Each request begins without one; tasks and the blocks of Deferrables
  # have that of the code which has made them. So no span of one request gets into another. Fibers of Fiber.schedule
  # have none.
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
  end
end

require_relative "opentelemetry/inheritance"
require_relative "opentelemetry/server"
require_relative "opentelemetry/client"
require_relative "opentelemetry/commands"
require_relative "opentelemetry/queries"
