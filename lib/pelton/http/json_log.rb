# frozen_string_literal: true

require "json"

module Pelton
  module HTTP
    # Access lines in JSON, one object a line. They are buffered, and written once a tick.
    #
    # | member | meaning |
    # |---|---|
    # | time | when the response was complete, in UTC |
    # | request_id | the header x-request-id, where a proxy or the application has set it; in Rails, its own |
    # | method, path, status, bytes | of the request and its response; the path without its query, which may contain secrets |
    # | address | the client's; behind a proxy, what Rails or Pelton::Web have found in its headers |
    # | ms | milliseconds from the head of the request to the end of its response |
    # | waited_ms, computed_ms | the time in the application: its fiber was parked, or it ran. Without the time in which the response was sent |
    # | queue_ms | before the head arrived here, by a proxy's header X-Request-Start (milliseconds, or "t=" and seconds) |
    # | queries, queries_ms | of Sequel (the event `query.sequel`), from the process's first one on: on the request's fiber and in the tasks that it has spawned; in all, also where they ran at the same time |
    # | route, trace_id | of Pelton::Web and of OpenTelemetry |
    # | error | why there was no request: it was malformed or late (with a status), or TLS's handshake failed (without) |
    #
    # A member that is not known is left out.
    #
    # @example
    #   Pelton::HTTP::Server.new(app, log: Pelton::HTTP::JSONLog.new($stdout))
    class JSONLog
      FIGURES = "pelton.figures"
      LONGEST_QUEUE = 3600 # seconds: beyond, the proxy's clock or its header is wrong
      UNITS = [1, 1000, 1_000_000].freeze # a second
      private_constant :FIGURES, :LONGEST_QUEUE, :UNITS

      # What one request has done. Milliseconds.
      Figures = Struct.new(:waited, :computed, :queries, :queried)
      private_constant :Figures

      class << self
        # Counts the queries of requests from now on, whichever server and log they have.
        # @private
        def _count_queries = @counting ||= Notifications.subscribe("query.sequel") { |event| count(event.duration) }

        # @private
        # @return [Boolean] whether the process has sent a query
        def _queries? = @queries

        private

        def count(seconds)
          @queries = true
          figures = Inherited[:pelton_figures] or return
          figures.queries = (figures.queries || 0) + 1
          figures.queried = (figures.queried || 0) + seconds * 1000
        end
      end

      # @param io [#write]
      def initialize(io)
        @io = io
        @lines = nil
      end

      # Middleware that measures what the application does. {Server} puts it around its application.
      # @private
      def measuring(app)
        self.class._count_queries
        lambda do |env|
          figures = Inherited[:pelton_figures] = env[FIGURES] = Figures.new
          reactor, began = Reactor.current, now
          waited = reactor.waited
          app.call(env)
        ensure
          Inherited[:pelton_figures] = nil
          figures.waited = (reactor.waited - waited) / 1e6 if waited
          figures.computed = (now - began) / 1e6 - figures.waited if waited
        end
      end

      # @private
      def call(event)
        payload = event.payload
        if payload[:env]
          add(members(*payload.values_at(:env, :status, :bytes), event.duration))
        else
          add(refusal(*payload.values_at(:address, :status, :reason)))
        end
      end

      private

      def refusal(address, status, reason)
        {time: stamp(Time.now), status: status, address: presence(address), error: text(reason)}
      end

      def add(members)
        unless @lines
          @lines = +""
          Pelton.next_tick { write }
        end
        @lines << JSON.generate(members.compact, ascii_only: true) << "\n"
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

      def write
        lines, @lines = @lines, nil
        @io.write(lines)
      end

      def members(env, status, bytes, seconds)
        figures = env[FIGURES] || Figures.new
        time = Time.now
        {
          time: stamp(time), request_id: text(env["action_dispatch.request_id"] || env["HTTP_X_REQUEST_ID"]),
          method: text(env["REQUEST_METHOD"]), path: text(env["PATH_INFO"]),
          route: text(env["pelton.web.route"]), status: status, bytes: bytes, ms: rounded(seconds * 1000),
          waited_ms: rounded(figures.waited),
          computed_ms: rounded(figures.computed), queue_ms: queued(env["HTTP_X_REQUEST_START"], time.to_f - seconds),
          queries: figures.queries || (0 if self.class._queries?),
          queries_ms: rounded(figures.queried), address: address(env), trace_id: env["pelton.trace_id"]
        }
      end

      def stamp(time) = time.utc.strftime("%FT%T.%LZ")

      def rounded(milliseconds) = milliseconds&.round(3)

      # Rails finds it when it is asked for. It raises where headers contradict each other.
      def address(env)
        text(env["action_dispatch.remote_ip"] || env["REMOTE_ADDR"])
      rescue
        text(env["REMOTE_ADDR"])
      end

      def presence(address) = (address.nil? || address.empty?) ? nil : text(address)

      # A client may send any bytes.
      def text(object)
        return if object.nil?
        object.to_s.dup.force_encoding(Encoding::UTF_8).scrub
      end

      # nginx writes "t=1700000000.123" ($msec), others milliseconds or microseconds.
      def queued(header, began)
        start = header&.delete_prefix("t=")&.then { |number| Float(number, exception: false) } or return
        seconds = UNITS.map { |unit| began - start / unit }.find { |queued| queued.between?(0, LONGEST_QUEUE) }
        rounded(seconds * 1000) if seconds
      end
    end
  end
end
