# frozen_string_literal: true

require_relative "setting"

module Pelton
  module HTTP
    # The settings of `pelton serve` that have one value each. The methods of {Configuration}, the variables, the flags
    # and their help, the options of {Server}, `docs/reference/settings.md` and the signatures are made from this table:
    # `rake settings` writes the last two.
    # @private
    SETTINGS = [
      Setting.new(:rackup, :file, "config.ru", "the application's file", taken_by: :program),
      Setting.new(:environment, :text, nil, "RACK_ENV; without it, APP_ENV, RACK_ENV, RAILS_ENV or development",
        short: "-e", taken_by: :program),
      Setting.new(:workers, :count, 0, "processes that serve; 0: this process alone", short: "-w", taken_by: :program),
      Setting.new(:preload, :switch, false, "load the application before the workers are forked", taken_by: :program),
      Setting.new(:shutdown_timeout, :seconds, 30, "how long a stop waits for running requests", taken_by: :program),
      Setting.new(:boot_timeout, :seconds, 60, "how long a new worker may take until it serves", taken_by: :master),
      Setting.new(:worker_timeout, :seconds, 60, "how long a worker may be silent before it is replaced",
        taken_by: :master),
      Setting.new(:worker_memory, :bytes, nil, "replace a worker that has more memory", option: :memory,
        taken_by: :master),

      Setting.new(:log, :file, nil, "log requests to a file instead of standard output", short: "-l",
        taken_by: :program),
      Setting.new(:log_format, :text, "common", "common or json", choices: %w[common json], taken_by: :program),
      Setting.new(:quiet, :switch, false, "print nothing, log no requests", short: "-q", taken_by: :program),
      Setting.new(:control, :address, nil, "serve statistics as JSON and for Prometheus: tcp://host:port or the path of a UNIX socket", taken_by: :program),
      Setting.new(:live_path, :path, nil, "answered before the application while the process works: for liveness probes", taken_by: :program),
      Setting.new(:ready_path, :path, nil, "answered with 200 or 503: whether requests may come, for readiness probes and load balancers", taken_by: :program),
      Setting.new(:pidfile, :file, nil, "the file for the process id, which is the master's where there are workers",
        taken_by: :program),
      Setting.new(:tag, :text, nil, "text in the names of the worker processes, for ps", taken_by: :program),
      Setting.new(:pubsub, :topics, nil, "share topics (Pelton::PubSub) with other machines by redis://host:port or postgres://host/database",
        taken_by: :program),

      Setting.new(:header_timeout, :seconds, 30, "for a request's head, and between two pieces of its body; else 408",
        taken_by: :server),
      Setting.new(:body_rate, :number, 500,
        "average bytes/s of a body, once it took longer than header_timeout; else 408", taken_by: :server),
      Setting.new(:idle_timeout, :seconds, 75, "between two requests; then the connection is closed",
        taken_by: :server),
      Setting.new(:request_timeout, :seconds, nil, "from a request's head to the beginning of its response; else 504",
        taken_by: :server),
      Setting.new(:write_timeout, :seconds, 60, "in which the client reads nothing of the response; then the connection is closed", taken_by: :server),
      Setting.new(:max_target, :bytes, 8192, "longest target of a request; else 414", taken_by: :server),
      Setting.new(:max_head, :bytes, 65_536, "longest request line and headers; else 431", taken_by: :server),
      Setting.new(:max_headers, :number, 100, "most headers of a request, 256 at most; else 431", taken_by: :server),
      Setting.new(:max_body, :bytes, nil, "longest body of a request; else 413", taken_by: :server),
      Setting.new(:spool, :bytes, nil,
        "receive the whole body before the application is called, and what is longer into a file (with Rack 2: 128 KB)", taken_by: :server),
      Setting.new(:max_requests, :number, nil, "most requests of a connection; then it is closed", taken_by: :server),
      Setting.new(:max_streams, :number, 100, "most requests at once of a connection of HTTP/2; 0: HTTP/1.1 alone",
        taken_by: :server),
      Setting.new(:stream_window, :bytes, 131_072, "of a body that a client of HTTP/2 may send ahead of the application", taken_by: :server),
      Setting.new(:max_resets, :number, 1000,
        "most requests that a client of HTTP/2 may cancel, or have refused as malformed, at once, and again within 30 seconds; then its connection ends",
        taken_by: :server),
      Setting.new(:max_control_frames, :number, 1000,
        "likewise of frames that only cost work: PING, SETTINGS, PRIORITY, CONTINUATION, empty DATA",
        taken_by: :server),
      Setting.new(:concurrency, :number, 10_000, "most requests that run at once", taken_by: :server),
      Setting.new(:queue, :number, 10_000, "most requests that wait to run; else 503 with Retry-After",
        taken_by: :server),
      Setting.new(:public, :file, nil, "the folder whose files are sent without calling the application",
        taken_by: :server),
      Setting.new(:public_max_age, :count, nil,
        "seconds for which clients keep public files unasked that have no digest in their names", taken_by: :server),
      Setting.new(:x_sendfile, :folders, nil,
        "folders of files that responses may name by X-Sendfile instead of having a body", taken_by: :server),
      Setting.new(:x_accel, :map, nil,
        "URLs that responses may name by X-Accel-Redirect, and their folders: /internal/=/srv/files", taken_by: :server),
      Setting.new(:cache, :bytes, nil, "keep public responses, and answer with them without calling the application",
        taken_by: :server),
      Setting.new(:gzip, :switch, false, "compress texts of 1 KB or more that the application has not compressed: by gzip, or by Brotli or Zstandard where the gem brotli or zstd-ruby is installed", taken_by: :server),
      Setting.new(:gzip_level, :count, 4, "1 (fast) to 9 (small)", taken_by: :server),
      Setting.new(:gzip_cookies, :switch, false, "compress responses that set cookies, too: see the guide for the risk",
        taken_by: :server),
      Setting.new(:secure, :switch, false, "rack.url_scheme is https without TLS, too: behind a proxy that has TLS",
        taken_by: :server),
      Setting.new(:early_hints, :switch, false,
        "let the application send 103 Early Hints, which some proxies and clients take for the response",
        taken_by: :server)
    ].freeze
  end
end
