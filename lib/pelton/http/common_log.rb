# frozen_string_literal: true

module Pelton
  module HTTP
    # Access lines in Common Log Format. They are buffered, and written once a tick. The target is without its query,
    # which may contain secrets.
    #
    # @example
    #   Pelton::HTTP::Server.new(app, log: Pelton::HTTP::CommonLog.new($stdout))
    class CommonLog
      SPECIAL = /[^ !#-\[\]-~]/n
      private_constant :SPECIAL

      # @param io [#write]
      def initialize(io)
        @io = io
        @lines = nil
        @second = @time = nil
      end

      # @private
      def call(event)
        payload = event.payload
        return refused(*payload.values_at(:address, :status)) unless (env = payload[:env])
        status, bytes = payload.values_at(:status, :bytes)
        add("#{presence(env["REMOTE_ADDR"])} - #{presence(env["REMOTE_USER"])} [#{time}] " \
          "\"#{plain(env["REQUEST_METHOD"])} #{target(plain(env["REQUEST_URI"]))} #{env["SERVER_PROTOCOL"]}\" " \
          "#{status} #{bytes.zero? ? "-" : bytes}\n")
      end

      private

      # A connection without a request. The format has no place for one without a status.
      def refused(address, status)
        add("#{presence(address)} - - [#{time}] \"-\" #{status} -\n") if status
      end

      def add(line)
        unless @lines
          @lines = +""
          Pelton.next_tick { write }
        end
        @lines << line
      end

      def write
        lines, @lines = @lines, nil
        @io.write(lines)
      end

      def presence(text) = (text.nil? || text.empty?) ? "-" : plain(text)

      # A proxy's clients send whole URLs.
      def target(uri)
        query = uri.index("?")
        uri = uri[0, query] if query
        uri.start_with?("/") ? uri : uri.sub(%r{//[^/]*@}, "//")
      end

      # Escapes special bytes, so a client cannot write lines of its own into the log.
      def plain(text)
        text = text.b unless text.ascii_only?
        text.match?(SPECIAL) ? text.b.gsub(SPECIAL) { |byte| format("\\x%02x", byte.ord) } : text
      end

      def time
        second = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
        return @time if second == @second
        @second = second
        @time = Time.at(second).strftime("%d/%b/%Y:%H:%M:%S %z")
      end
    end
  end
end
