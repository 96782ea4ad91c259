# frozen_string_literal: true

require "securerandom"

module EventMachine
  # A response to an HTTP request: one content, or chunks, or parts, which may be sent one after the other. A subclass
  # defines `send_data` and `close_connection_after_writing`; {DelegatedHttpResponse} calls those of a connection.
  class HttpResponse
    # @return [Integer, String, nil] nil: 200
    attr_accessor :status
    # @return [#to_s, nil]
    attr_accessor :content
    # @return [Hash{String => Object}] each element of an Array is sent as a separate header
    attr_accessor :headers
    # @return [Array, nil] the chunks or parts that are not sent yet
    attr_accessor :chunks, :multiparts

    # @return [String] a text that occurs in no part
    def self.concoct_multipart_boundary = "boundary-#{SecureRandom.hex(16)}"

    def initialize
      @headers = {}
    end

    # Keeps the connection open after the response. Without it the connection is closed.
    def keep_connection_open(keep = true)
      @keep_connection_open = keep
    end

    # @overload content_type(type)
    #   Sets the Content-type.
    # @return [String, nil]
    def content_type(*type)
      headers["Content-type"] = type.first unless type.empty?
      headers["Content-type"]
    end

    # Adds cookies.
    #
    # @param cookies [Array<String>] "name=value; ..."
    def add_set_cookie(*cookies) = (headers["Set-cookie"] ||= []).concat(cookies.flatten)

    # Replaces all cookies by these.
    def set_cookie(*cookies)
      headers["Set-cookie"] = []
      add_set_cookie(*cookies)
    end

    # Sends the headers and the body, and ends the response.
    #
    # @raise [RuntimeError] when the headers were sent already
    def send_response
      send_headers
      send_body
      send_trailer
      close_connection_after_writing unless @keep_connection_open
    end

    # Sends the status line and the headers.
    #
    # @raise [RuntimeError] when they were sent already
    # @raise [ArgumentError] when a header has a line end in it, which would begin another header
    def send_headers
      raise "sent headers already" if @sent_headers
      @sent_headers = true
      fixup_headers
      lines = ["HTTP/1.1 #{status || 200} ...", *generate_header_lines(headers).sort]
      wrong = lines.find { |line| line.match?(/[\r\n]/) } and raise ArgumentError,
        "a header contains a line end: #{wrong.inspect}"
      send_data("#{lines.join("\r\n")}\r\n\r\n")
    end

    # @private
    def fixup_headers
      if content
        headers["Content-length"] = content.to_s.bytesize
      elsif chunks
        headers["Transfer-encoding"] = "chunked"
      elsif multiparts
        @multipart_boundary = self.class.concoct_multipart_boundary
        headers["Content-type"] = "multipart/x-mixed-replace; boundary=\"#{@multipart_boundary}\""
      else
        headers["Content-length"] = 0
      end
    end

    # Sends the content, or the chunks or parts that have been added.
    #
    # @raise [RuntimeError] when the content was sent already
    def send_body
      return send_content if content || !(chunks || multiparts)
      chunks ? send_chunks : send_multiparts
    end

    # Sends the end of the chunks or parts.
    def send_trailer
      return if content
      send_data("0\r\n\r\n") if chunks && !@last_chunk_sent
      send_data("\r\n--#{@multipart_boundary}--\r\n\r\n") if multiparts
    end

    # @private
    def send_content
      raise "sent content already" if @sent_content
      @sent_content = true
      send_data(content.to_s)
    end

    # Adds a chunk.
    #
    # @param text [String, Hash] or `{text: String}`
    def chunk(text) = (@chunks ||= []) << text

    # Sends the chunks that have been added. An empty chunk is the last one.
    #
    # @raise [RuntimeError] when the last chunk was sent already
    def send_chunks
      while (chunk = chunks&.shift)
        raise "last chunk already sent" if @last_chunk_sent
        text = (chunk.is_a?(Hash) ? chunk[:text] : chunk).to_s
        @last_chunk_sent = text.empty?
        send_data("#{text.bytesize.to_s(16)}\r\n#{text}\r\n")
      end
    end

    # Adds a part.
    #
    # @param part [String, Hash] or `{headers: Hash, body: String}`
    def multipart(part) = (@multiparts ||= []) << (part.is_a?(Hash) ? part : {body: part})

    # Sends the parts that have been added.
    def send_multiparts
      while (part = multiparts&.shift)
        lines = generate_header_lines(part[:headers] || {})
        send_data(["\r\n--#{@multipart_boundary}", *lines, "", part[:body]].join("\r\n"))
      end
    end

    # Redirects the client, with status 302.
    def send_redirect(location)
      self.status = 302
      headers["Location"] = location
      send_response
    end

    private

    def generate_header_lines(headers) = headers.flat_map { |name, value| [*value].map { |one| "#{name}: #{one}" } }
  end

  # A response that a connection sends.
  class DelegatedHttpResponse < HttpResponse
    # @param connection [#send_data, #close_connection_after_writing]
    def initialize(connection)
      super()
      @delegate = connection
    end

    # Sends data on the connection.
    def send_data(data) = @delegate.send_data(data)

    # Closes the connection at once.
    def close_connection = @delegate.close_connection

    # Closes the connection when all queued bytes are sent.
    def close_connection_after_writing = @delegate.close_connection_after_writing
  end
end
