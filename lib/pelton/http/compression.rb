# frozen_string_literal: true

require_relative "content_coding"
require_relative "compression/coders"
require_relative "compression/body"

module Pelton
  module HTTP
    # Compresses the texts of an application that does not do so itself (`gzip true`): its Arrays as a whole, other
    # bodies part by part, so that each part reaches the client when it is written.
    # @private
    class Compression
      # Bytes below which a text is sent as it is: the packets are hardly fewer.
      LEAST = 1024
      # Bytes from which another thread compresses: about 5 ms of work, in which no other request would run.
      IN_THREAD = 262_144
      # What is text, by its type (RFC 6838). Images, archives and videos are compressed already.
      TYPES = %r{
        \A(?:text/(?!event-stream) |
          application/(?:json|javascript|xml|wasm|x-ndjson|[\w.-]+\+(?:json|xml)) |
          image/svg\+xml | font/(?:ttf|otf))
      }ix
      WITHOUT_CONTENT = [204, 205, 206, 304].freeze
      # Headers that speak of the content as the application has made it.
      OF_CONTENT = %w[content-encoding content-range content-digest content-md5 digest rack.hijack rack.protocol].freeze
      MOST_KNOWN = 100 # values of Accept-Encoding whose coder is remembered
      private_constant :LEAST, :IN_THREAD, :TYPES, :WITHOUT_CONTENT, :OF_CONTENT, :MOST_KNOWN

      # @param app [#call] the Rack application
      # @param level [Integer] of gzip: 1 (fast) to 9 (small)
      # @param cookies [Boolean] whether responses that set cookies are compressed
      def initialize(app, level:, cookies:)
        raise ArgumentError, "gzip_level: must be 1 to 9, not #{level}" unless level.between?(1, 9)
        @app = app
        @coders = Coders.present(level)
        @cookies = cookies
        @known = {}
      end

      # @return [Array(Integer, Hash, Object)]
      # @asynchronous
      def call(env)
        response = @app.call(env)
        status, headers, body = response
        return response unless text?(status, headers, body)
        headers = headers.to_hash.to_h { |name, value| [name.downcase, value] }
        return response if left_alone?(headers)
        parts = parts_of(body)
        return [status, headers, parts || body] if parts && parts.sum(&:bytesize) < LEAST
        headers["vary"] = ContentCoding.vary(headers["vary"])
        coder = coder_for(env["HTTP_ACCEPT_ENCODING"])
        return [status, headers, parts || body] unless coder && env["REQUEST_METHOD"] != "HEAD"
        [status, headers, compressed(coder, headers, parts, body)]
      end

      private

      def text?(status, headers, body)
        return false unless headers.respond_to?(:to_hash) && status.is_a?(Integer) && status >= 200
        type = headers["content-type"] || headers["Content-Type"]
        type.is_a?(String) && type.match?(TYPES) && !WITHOUT_CONTENT.include?(status) && ours?(body)
      end

      # Files are sent by sendfile; other bodies are passed on by the kernel, or go on after the call has returned.
      def ours?(body)
        body.is_a?(Array) ||
          body.respond_to?(:each) && %i[to_path relay_to callback send_to].none? { |name| body.respond_to?(name) }
      end

      def left_alone?(headers)
        OF_CONTENT.any? { |name| headers.key?(name) } || !@cookies && headers.key?("set-cookie") ||
          headers["cache-control"]&.include?("no-transform")
      end

      # @return [Array<String>, nil] the whole body; nil: its parts are yet to come
      def parts_of(body)
        return body if body.is_a?(Array)
        return unless body.respond_to?(:to_ary) && (parts = body.to_ary).is_a?(Array)
        body.close if body.respond_to?(:close)
        parts
      end

      def coder_for(header)
        @known.fetch(header) do
          @known.clear if @known.size >= MOST_KNOWN
          @known[header] = @coders.find { |coder| ContentCoding.accepted?(header, coder.name) }
        end
      end

      def compressed(coder, headers, parts, body)
        headers["content-encoding"] = coder.name
        headers["etag"] = "W/#{headers["etag"]}" if headers["etag"]&.start_with?('"')
        headers.delete("accept-ranges")
        headers.delete("content-length")
        return Body.new(body, coder.stream) unless parts
        content = whole(coder, (parts.size == 1) ? parts.first : parts.join)
        headers["content-length"] = content.bytesize.to_s
        [content]
      end

      def whole(coder, text)
        return coder.whole(text) if text.bytesize < IN_THREAD || !Reactor.running?
        Pelton.offload { coder.whole(text) }
      end
    end
  end
end
