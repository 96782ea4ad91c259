# frozen_string_literal: true

module EventMachine
  module Protocols
    # Requests in HTTP's form: header lines, an empty line, and as many bytes of content as a Content-length header
    # says. A subclass defines the methods that it needs:
    #
    # - `receive_first_header_line(line)`
    # - `receive_headers(lines)`, called when all header lines have arrived
    # - `receive_request(lines, content)`, called when the request is complete; the content may be ""
    #
    # A second Content-length header closes the connection, because another program could see the request's end
    # elsewhere.
    class HeaderAndContentProtocol < Connection
      include LineText2

      ContentLengthPattern = /\AContent-length:\s*(\d+)/i # standard:disable Naming/ConstantName

      # @param lines [Array<String>] "Name-Of-Header: value"
      # @return [Hash{Symbol => String}] by :name_of_header
      def self.headers_2_hash(lines)
        lines.each_with_object({}) do |line, hash|
          hash[$1.downcase.tr("-", "_").to_sym] = $2 if line =~ /\A([^\s:]+)\s*:\s*(.*)\z/
        end
      end

      def initialize(*)
        super
        hc_begin
      end

      # See {.headers_2_hash}.
      def headers_2_hash(lines) = self.class.headers_2_hash(lines)

      # @private
      def receive_line(line)
        return hc_end_headers if line.empty?
        @hc_headers << line
        receive_first_header_line(line) if @hc_headers.size == 1 && respond_to?(:receive_first_header_line)
        return unless line =~ ContentLengthPattern
        return hc_refuse if @hc_length
        @hc_length = Integer($1, 10)
      end

      # @private
      def receive_binary_data(data)
        return if @hc_refused
        @hc_content = data
        hc_dispatch
      end

      private

      def hc_begin
        @hc_headers, @hc_length, @hc_content = [], nil, ""
      end

      def hc_refuse
        @hc_refused = true
        set_text_mode # so that bytes that have arrived already are not taken for a request
        close_connection
      end

      def hc_end_headers
        return if @hc_headers.empty? # an empty line before the first header
        receive_headers(@hc_headers) if respond_to?(:receive_headers)
        (@hc_length || 0).zero? ? hc_dispatch : set_text_mode(@hc_length)
      end

      def hc_dispatch
        headers, content = @hc_headers, @hc_content
        hc_begin
        receive_request(headers, content) if respond_to?(:receive_request)
      end
    end
  end
end
