# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each request that a server answers, from the call of the application to the end of its response. What
    # the application does has it as its parent.
    # @private
    module Server
      METHODS = %w[CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE].freeze
      ROUTE = "pelton.web.route" # Pelton::Web's
      private_constant :METHODS, :ROUTE

      # Finds the headers of a request in its env.
      module Headers
        def self.get(env, name) = env["HTTP_#{name.upcase.tr("-", "_")}"]

        def self.keys(env) = env.keys.grep(/\AHTTP_/).map { |name| name.delete_prefix("HTTP_").tr("_", "-").downcase }
      end

      class << self
        # What the application does has the span as its parent: each request begins with empty fiber-locals.
        def start(event)
          env = event.payload[:env]
          context = ::OpenTelemetry.propagation.extract(env, context: ::OpenTelemetry::Context::ROOT, getter: Headers)
          verb = METHODS.include?(env["REQUEST_METHOD"]) ? env["REQUEST_METHOD"] : "_OTHER"
          span = OpenTelemetry.tracer.start_span((verb == "_OTHER") ? "HTTP" : verb, with_parent: context,
            kind: :server, attributes: attributes(env, verb))
          env["pelton.trace_id"] = span.context.hex_trace_id if span.context.valid?
          event.payload[:span] = span
          ::OpenTelemetry::Context.attach(::OpenTelemetry::Trace.context_with_span(span, parent_context: context))
        end

        def finish(event)
          span, env, status = event.payload.values_at(:span, :env, :status)
          return unless span # the application was not called
          if (route = env[ROUTE])
            path = text(route)
            span.name = "#{env["REQUEST_METHOD"]} #{path}"
            span.set_attribute("http.route", path)
          end
          span.set_attribute("http.response.status_code", status) if status&.positive?
          return OpenTelemetry.finish(span, event) if event.error || status.to_i < 500
          span.set_attribute("error.type", status.to_s)
          span.status = ::OpenTelemetry::Trace::Status.error
          span.finish
        end

        private

        def attributes(env, verb)
          host, port = env.values_at("SERVER_NAME", "SERVER_PORT")
          {"http.request.method" => verb, "url.path" => text(env["PATH_INFO"]), "url.scheme" => env["rack.url_scheme"],
           "server.address" => text(host),
           "server.port" => port.to_i, "network.protocol.version" => env["SERVER_PROTOCOL"].to_s.delete_prefix("HTTP/")}
        end

        # A header or a path need not be text.
        def text(bytes) = bytes.to_s.dup.force_encoding(Encoding::UTF_8).scrub
      end

      Notifications.subscribe("request.http_server", self)
    end
  end
end
