# frozen_string_literal: true

require_relative "../metrics"

module Pelton
  module HTTP
    # What {Server#stats} counts, to Prometheus.
    FIGURES = {
      "connections" => ["gauge", "connections", "Open connections."],
      "idle" => ["gauge", "idle_connections", "Open connections between two requests."],
      "accepted" => ["counter", "accepted_connections_total", "Connections that were accepted."],
      "running" => ["gauge", "running_requests", "Requests that the application or its response is busy with."],
      "waiting" => ["gauge", "waiting_requests", "Requests that wait for a place to run."],
      "requests" => ["counter", "requests_total", "Requests whose head was received."],
      "refused" => ["counter", "refused_requests_total", "Requests that were malformed, or beyond a limit."],
      "overloads" => ["counter", "overloads_total", "Requests that found no place to wait: answered with 503."],
      "errors" => ["counter", "errors_total", "Requests in which the application failed: answered with 500."],
      "responses" => ["counter", "responses_total", "Responses by their status codes' class.", :code],
      "durations" => ["histogram", "request_duration_seconds", "Time from a request's head to its response's end."]
    }.transform_values { |type, name, *rest| Metrics::Family.new(type, "pelton_http_#{name}", *rest).freeze }.freeze
  end
end
