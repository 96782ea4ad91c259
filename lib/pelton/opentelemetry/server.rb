# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each request that a server answers, from the call of the application to the end of its response. What the application does has it as
    # its parent.
    # @private
    class Server
      METHODS = %w[CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE].freeze
      ROUTE = "pelton.web.route" # Pelton::Web's
      private_constant :METHODS, :ROUTE

      # Finds the headers of a request in its env.
      module Headers
        def self.get(env, name) = env["HTTP_#{name.upcase.tr("-", "_")}"]

        def self.keys(env) = env.keys.grep(/\AHTTP_/).map { |name| name.delete_prefix("HTTP_").tr("_", "-").downcase }
      end

      # Puts it around the application of each server.
      module Around
        def initialize(app, **options) = super(app.respond_to?(:call) ? Server.new(app) : app, **options)

        HTTP::Server.prepend(self)
      end

      def initialize(app) = @app = app

      def call(env)
        context = ::OpenTelemetry.propagation.extract(env, context: ::OpenTelemetry::Context::ROOT, getter: Headers)
        verb = METHODS.include?(env["REQUEST_METHOD"]) ? env["REQUEST_METHOD"] : "_OTHER"
        span = OpenTelemetry.tracer.start_span((verb == "_OTHER") ? "HTTP" : verb, with_parent: context, kind: :server, attributes: attributes(env, verb))
        env["pelton.trace_id"] = span.context.hex_trace_id if span.context.valid?
        env["rack.response_finished"] << ->(*end_of_exchange) { finish(span, *end_of_exchange) } if env.key?("rack.response_finished")
        answer(env, context, span)
      end

      private

      def answer(env, context, span)
        response = Inheritance.within(::OpenTelemetry::Trace.context_with_span(span, parent_context: context)) { @app.call(env) }
        finish(span, env, response[0], nil, nil) unless env.key?("rack.response_finished")
        response
      rescue => error
        span.record_exception(error)
        finish(span, env, 500, nil, nil) unless env.key?("rack.response_finished")
        raise
      end

      def attributes(env, verb)
        host, port = env.values_at("SERVER_NAME", "SERVER_PORT")
        {"http.request.method" => verb, "url.path" => text(env["PATH_INFO"]), "url.scheme" => env["rack.url_scheme"], "server.address" => text(host),
         "server.port" => port.to_i, "network.protocol.version" => env["SERVER_PROTOCOL"].to_s.delete_prefix("HTTP/")}
      end

      def finish(span, env, status, _headers, error)
        if (route = env[ROUTE])
          path = text(route)
          span.name = "#{env["REQUEST_METHOD"]} #{path}"
          span.set_attribute("http.route", path)
        end
        span.set_attribute("http.response.status_code", status) if status&.positive?
        fail(span, error ? error.class.name : status.to_s) if error || status.to_i >= 500
        span.finish
      end

      def fail(span, type)
        span.set_attribute("error.type", type)
        span.status = ::OpenTelemetry::Trace::Status.error
      end

      # A header or a path need not be text.
      def text(bytes) = bytes.to_s.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end
