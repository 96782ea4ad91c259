# frozen_string_literal: true

require "pathname"
require "securerandom"

module Pelton
  module HTTP
    # A form with files, multipart/form-data (RFC 7578): `multipart:` of {Client#request}. Files are read while they are
    # sent.
    #
    # A value is a String or another object with `to_s`; an IO or a Pathname, which is sent as a file; a Hash with a
    # file's `content:`, `filename:` and `type:`; or an Array of values, which are sent under the same name.
    #
    # @example
    #   client.post("photos", multipart: {title: "Nile", tags: ["river", "map"], photo: File.open("nile.jpg")})
    #   client.post("photos", multipart: {photo: {content: bytes, filename: "nile.jpg", type: "image/jpeg"}})
    class Multipart
      include Opaque

      # The content type of a file without another one.
      TYPE = "application/octet-stream"

      # @return [Boolean] whether there is a file among the values of a form
      def self.needed?(fields)
        fields.any? { |_, value| (value.is_a?(Array) ? value : [value]).any? { |one| one.respond_to?(:read) } }
      end

      # @param fields [Hash, Array<Array(name, value)>]
      # @raise [ArgumentError] a content type contains a line end, or a value cannot be sent
      def initialize(fields)
        @boundary = "pelton-#{SecureRandom.hex(16)}"
        parts = fields.flat_map do |name, value|
          (value.is_a?(Array) ? value : [value]).flat_map { |one| part(name, one) }
        end
        @bodies = [*parts, "--#{@boundary}--\r\n"].map { |one| ClientBody.new(one) }
      end

      # @return [String] the content type, with the boundary
      def type = "multipart/form-data; boundary=#{@boundary}"

      # Yields the pieces of the body.
      def each(&block) = @bodies.each { |body| body.each(&block) }

      # @return [Integer, nil] bytes; nil: the length of a part is unknown
      def length
        lengths = @bodies.map(&:length)
        lengths.sum unless lengths.include?(nil)
      end

      # @return [Boolean] whether the form can be sent again
      def repeatable? = @bodies.all?(&:repeatable?)

      # @return [Boolean] whether the form can be read any number of times
      def rereadable? = @bodies.all?(&:rereadable?)

      private

      def part(name, value)
        return file(name, **value) if value.is_a?(Hash)
        return file(name, content: value) if value.respond_to?(:read)
        ["#{head(name)}\r\n\r\n", value.to_s, "\r\n"]
      end

      def file(name, content:, filename: name_of(content) || name, type: TYPE)
        raise ArgumentError, "#{type.inspect} is not a content type" if type.match?(/[\r\n\0]/)
        ["#{head(name)}; filename=\"#{quote(filename)}\"\r\ncontent-type: #{type}\r\n\r\n", content, "\r\n"]
      end

      def name_of(content)
        return content.original_filename if content.respond_to?(:original_filename)
        path = content.respond_to?(:path) ? content.path : (content if content.is_a?(Pathname))
        path && File.basename(path.to_s)
      end

      def head(name) = "--#{@boundary}\r\ncontent-disposition: form-data; name=\"#{quote(name)}\""

      # Escapes as browsers do (WHATWG HTML, 4.10.21.8), so the text can end neither the quotes nor the line.
      def quote(text) = text.to_s.gsub(/[\r\n"]/, "\r" => "%0D", "\n" => "%0A", '"' => "%22")
    end
  end
end
