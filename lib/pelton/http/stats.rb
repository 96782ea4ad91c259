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
      "failed_handshakes" => ["counter", "failed_handshakes_total",
        "Connections whose TLS handshake failed or took too long."],
      "running" => ["gauge", "running_requests", "Requests whose handler runs or whose response is being sent."],
      "waiting" => ["gauge", "waiting_requests", "Requests that wait because too many run."],
      "requests" => ["counter", "requests_total", "Requests whose head was received."],
      "refused" => ["counter", "refused_requests_total", "Requests that were malformed, or beyond a limit."],
      "overloads" => ["counter", "overloads_total", "Requests answered with 503 because the queue was full."],
      "errors" => ["counter", "errors_total", "Requests answered with 500 because the application failed."],
      "http2_connections" => ["counter", "http2_connections_total", "Connections on which a client spoke HTTP/2."],
      "http2_streams" => ["counter", "http2_streams_total", "Requests that came by HTTP/2."],
      "http2_resets" => ["counter", "http2_resets_total",
        "Requests that their client cancelled while they were answered."],
      "http2_floods" => ["counter", "http2_floods_total",
        "Connections ended because their client sent too much of what only costs work."],
      "cache_hits" => ["counter", "cache_hits_total", "Requests answered from the cache of public responses."],
      "cache_misses" => ["counter", "cache_misses_total",
        "Requests that could have been answered from the cache, but were not in it."],
      "cache_stale" => ["counter", "cache_stale_total", "Requests answered by a cached response that had expired."],
      "cache_waits" => ["counter", "cache_waits_total",
        "Of the misses, those that waited for the response to another request."],
      "cache_purged" => ["counter", "cache_purged_total", "Responses that were removed from the cache by request."],
      "cache_bytes" => ["gauge", "cache_bytes", "Memory of the responses in the cache."],
      "responses" => ["counter", "responses_total", "Responses by the class of their status.", :code]
    }.transform_values { |type, name, *rest| Metrics::Family.new(type, "pelton_http_#{name}", *rest) }.merge(
      # By OpenTelemetry's semantic conventions.
      "active" => Metrics::Family.new("gauge", "http_server_active_requests", "Requests that run or wait."),
      "durations" => Metrics::Family.new("histogram", "http_server_request_duration_seconds",
        "Time from the head of a request to the end of its response.",
        %i[http_request_method http_response_status_code http_route])
    ).each_value(&:freeze).freeze
  end
end
