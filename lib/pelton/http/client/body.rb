# frozen_string_literal: true

require "json"
require "pathname"
require "uri"
require_relative "../multipart"

module Pelton
  module HTTP
    # The body of a request, in pieces.
    # @private
    class ClientBody
      include Opaque

      # Bytes read from an IO at a time.
      PIECE = 65_536

      class << self
        # @return [Array(ClientBody, String), nil] the body, and the content type that follows from its form, or nil
        def for(body, json, form, multipart)
          given = [body, form, multipart].compact.size + (json.equal?(ClientRequest::NONE) ? 0 : 1)
          raise ArgumentError, "give one of body:, json:, form: and multipart:" if given > 1
          return [new(JSON.generate(json)), "application/json"] unless json.equal?(ClientRequest::NONE)
          multipart ||= form if form && Multipart.needed?(form)
          return Multipart.new(multipart).then { |parts| [new(parts), parts.type] } if multipart
          return [new(URI.encode_www_form(form)), "application/x-www-form-urlencoded"] if form
          body && [new(body), nil]
        end
      end

      # @return [Integer, nil] bytes; nil: unknown before the end
      attr_reader :length

      # @param source [String, Multipart, Pathname, #read, #each]
      def initialize(source)
        @source = source
        case source
        when String then @length = source.bytesize
        when Multipart then @length = source.length
        when Pathname then @length = source.size
        else
          raise ArgumentError, "send a Hash by form:, json: or multipart:, not by body:" if source.is_a?(Hash)
          unless source.respond_to?(:read) || source.respond_to?(:each)
            raise ArgumentError, "a body must be a String, an IO, a Pathname, or enumerable"
          end
          @start = source.pos if source.respond_to?(:pos) && source.respond_to?(:size)
          @length = source.size - @start if @start
        end
      rescue Errno::ESPIPE
        @start = nil # a pipe
      end

      # The headers that frame the body.
      def framing = @length ? {"content-length" => @length} : {"transfer-encoding" => "chunked"}

      def string? = @source.is_a?(String)

      def to_s = @source

      # Whether the body can be sent, even if it was sent before.
      def repeatable?
        case @source
        when Multipart then @source.repeatable?
        else !@begun || rereadable?
        end
      end

      # Whether the body can be read any number of times.
      def rereadable?
        case @source
        when String, Pathname then true
        when Multipart then @source.rereadable?
        else !@start.nil?
        end
      end

      # @return [ClientBody] the pieces of this body, which may be read once only
      def buffered = self.class.new(enum_for(:each).map(&:dup))

      # Yields the pieces from the beginning.
      def each(&block)
        @begun = true
        case @source
        when String then yield(@source)
        when Pathname then @source.open("rb") { |file| read(file, &block) }
        else
          return @source.each { |piece| yield string(piece) } unless @source.respond_to?(:read)
          @source.seek(@start) if @start
          read(@source, &block)
        end
      end

      # Yields the bytes for the wire, chunked if the length is unknown.
      def each_framed
        return each { |piece| yield piece } if @length
        each { |piece| yield "#{piece.bytesize.to_s(16)}\r\n", piece, "\r\n" unless piece.empty? }
        yield "0\r\n\r\n"
      end

      private

      def string(piece)
        String.try_convert(piece) || raise(TypeError, "a piece of the body is not a String: #{piece.inspect}")
      end

      def read(io)
        left = @length
        while left != 0 && (piece = io.read([PIECE, left].compact.min))
          left -= piece.bytesize if left
          yield piece
        end
        raise IOError, "the body has become #{left} bytes shorter" if left&.positive?
      end
    end
  end
end
