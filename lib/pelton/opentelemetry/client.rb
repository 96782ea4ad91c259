# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each request that the HTTP client sends, also for each one that follows a redirect. The server gets its
    # context by the header `traceparent`.
    # @private
    module Client
      class << self
        # Without a password, and without the query, which may contain secrets as well.
        def url(url) = url.dup.tap { |copy| copy.userinfo = copy.query = copy.fragment = nil }.to_s

        def start(event)
          request = event.payload[:request]
          attributes = {"http.request.method" => request.method, "server.address" => request.url.hostname,
                        "server.port" => request.url.port,
                        "url.full" => url(request.url)}
          span =
            event.payload[:span] = OpenTelemetry.tracer.start_span(request.method,
              attributes: attributes, kind: :client)
          ::OpenTelemetry.propagation.inject(request.headers, context: ::OpenTelemetry::Trace.context_with_span(span))
        end

        def finish(event)
          span = event.payload[:span]
          if (status = event.payload[:response]&.status)
            span.set_attribute("http.response.status_code", status)
            span.status = ::OpenTelemetry::Trace::Status.error if status >= 400
          end
          OpenTelemetry.finish(span, event)
        end
      end

      Notifications.subscribe("request.http_client", self)
    end
  end
end
