# frozen_string_literal: true

module Pelton
  module OpenTelemetry
    # A span for each request that the HTTP client sends, also for each one that follows a redirect. The server gets its context by the header
    # `traceparent`.
    # @private
    module Client
      # Without a password, and without the query, which may contain secrets as well.
      def self.url(url) = url.dup.tap { |copy| copy.userinfo = copy.query = copy.fragment = nil }.to_s

      private

      def exchange(request, ...)
        attributes = {"http.request.method" => request.method, "server.address" => request.url.hostname, "server.port" => request.url.port,
                      "url.full" => Client.url(request.url)}
        OpenTelemetry.tracer.in_span(request.method, attributes: attributes, kind: :client) do |span|
          ::OpenTelemetry.propagation.inject(request.headers)
          response = super
          span.set_attribute("http.response.status_code", response.status)
          span.status = ::OpenTelemetry::Trace::Status.error if response.status >= 400
          response
        end
      end

      HTTP::Client.prepend(self)
    end
  end
end
