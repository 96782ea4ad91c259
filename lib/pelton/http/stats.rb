# frozen_string_literal: true

require_relative "../metrics"

module Pelton
  module HTTP
    # The metric families for Prometheus of the counters in {Server#stats}.
    # @private
    STATS = {
      "connections" => ["gauge", "connections", "Open connections."],
      "idle" => ["gauge", "idle_connections", "Open connections between two requests."],
      "accepted" => ["counter", "accepted_connections_total", "Accepted connections."],
      "failed_handshakes" => ["counter", "failed_handshakes_total", "Connections whose TLS handshake failed or took too long."],
      "running" => ["gauge", "running_requests", "Requests whose handler runs or whose response is being sent."],
      "waiting" => ["gauge", "waiting_requests", "Requests that wait because too many run."],
      "requests" => ["counter", "requests_total", "Requests whose head was received."],
      "refused" => ["counter", "refused_requests_total", "Requests that were malformed, or beyond a limit."],
      "overloads" => ["counter", "overloads_total", "Requests answered with 503 because the queue was full."],
      "errors" => ["counter", "errors_total", "Requests answered with 500 because the application failed."],
      "responses" => ["counter", "responses_total", "Responses by the class of their status.", :code],
      "durations" => ["histogram", "request_duration_seconds", "Time from the head of a request to the end of its response."]
    }.transform_values { |type, name, *rest| Metrics::Family.new(type, "pelton_http_#{name}", *rest).freeze }.freeze
  end
end
