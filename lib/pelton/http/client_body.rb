# frozen_string_literal: true

require "json"
require "securerandom"
require "uri"

module Pelton
  module HTTP
    # The body of a request, in pieces.
    # @private
    class ClientBody
      # Bytes that are read of an IO at a time.
      PIECE = 65_536

      class << self
        # @return [Array(ClientBody, String), nil] the body and its content type, if it has one of its own
        def for(body, json, form)
          given = [body, form].compact.size + (json.equal?(ClientRequest::NONE) ? 0 : 1)
          raise ArgumentError, "give one of body:, json: and form:" if given > 1
          return [new(JSON.generate(json)), "application/json"] unless json.equal?(ClientRequest::NONE)
          return form(form) if form
          body && [new(body), nil]
        end

        private

        def form(form)
          return [new(URI.encode_www_form(form)), "application/x-www-form-urlencoded"] if form.none? { |_, value| value.respond_to?(:read) }
          boundary = "pelton-#{SecureRandom.hex(16)}"
          [new(multipart(form, boundary)), "multipart/form-data; boundary=#{boundary}"]
        end

        def multipart(form, boundary)
          parts = form.flat_map do |name, value|
            head = "--#{boundary}\r\ncontent-disposition: form-data; name=\"#{quote(name)}\""
            if value.respond_to?(:read)
              path = value.respond_to?(:path) ? value.path : name.to_s
              head << "; filename=\"#{quote(File.basename(path.to_s))}\"\r\ncontent-type: application/octet-stream"
            end
            [head << "\r\n\r\n", value.respond_to?(:read) ? value : value.to_s, "\r\n"]
          end
          Parts.new(parts << "--#{boundary}--\r\n")
        end

        def quote(text) = text.to_s.gsub(/[\r\n"]/, "\r" => "%0D", "\n" => "%0A", '"' => "%22")
      end

      # Strings and IOs, one behind the other.
      class Parts
        def initialize(parts) = @bodies = parts.map { |part| ClientBody.new(part) }

        def each(&block) = @bodies.each { |body| body.each(&block) }

        def repeatable? = @bodies.all?(&:repeatable?)

        def length
          lengths = @bodies.map(&:length)
          lengths.sum unless lengths.include?(nil)
        end
      end

      # @return [Integer, nil] bytes; nil: not known before the end
      attr_reader :length

      # @param source [String, Parts, #read, #each]
      def initialize(source)
        @source = source
        case source
        when String then @length = source.bytesize
        when Parts then @length = source.length
        else
          raise ArgumentError, "a body is a String, an IO, or enumerable" unless source.respond_to?(:read) || source.respond_to?(:each)
          @start = source.pos if source.respond_to?(:pos) && source.respond_to?(:size)
          @length = source.size - @start if @start
        end
      rescue Errno::ESPIPE
        @start = nil # a pipe
      end

      # The headers that say where it ends.
      def framing = @length ? {"content-length" => @length} : {"transfer-encoding" => "chunked"}

      def string? = @source.is_a?(String)

      def to_s = @source

      # Whether it can be sent once more.
      def repeatable? = string? || (@source.is_a?(Parts) ? @source.repeatable? : !@start.nil?)

      # Yields its pieces, from the beginning.
      def each(&block)
        return yield(@source) if string?
        return @source.each(&block) unless @source.respond_to?(:read)
        @source.seek(@start) if @start
        left = @length
        while left != 0 && (piece = @source.read([PIECE, left].compact.min))
          left -= piece.bytesize if left
          yield piece
        end
        raise IOError, "the body is #{left} bytes shorter than it was" if left&.positive?
      end

      # Yields what goes on the wire, with the frames of chunks if there are any.
      def each_framed
        return each { |piece| yield piece } if @length
        each { |piece| yield "#{piece.bytesize.to_s(16)}\r\n", piece, "\r\n" unless piece.empty? }
        yield "0\r\n\r\n"
      end
    end
  end
end
