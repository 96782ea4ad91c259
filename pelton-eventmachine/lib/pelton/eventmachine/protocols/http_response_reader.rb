# frozen_string_literal: true

module EventMachine
  module Protocols
    # Reads one response of an HTTP/1 server, for {HttpClient} and {HttpClient2}.
    #
    # @private
    class HttpResponseReader
      include LineText2

      # A response with more blank lines before it, or more header lines, is refused.
      MAX_BLANK_LINES = 100
      MAX_HEADER_LINES = 500

      STATUS = /\AHTTP\/(\d\.\d) (\d{3})/i
      HEADER = /\A([^\s:]+):\s*(.*?)\s*\z/m
      private_constant :STATUS, :HEADER

      # @return [Array<String>] the status line and the header lines
      attr_reader :header_lines
      # @return [Hash{String => Array<String>}] values by the name in lower case
      attr_reader :headers
      # @return [String, nil] "1.1"
      attr_reader :version
      # @return [Integer] 0 until the status line has arrived
      attr_reader :status
      # @return [String] binary
      attr_reader :content
      # @return [String] the bytes after the response
      attr_reader :rest
      # @return [Symbol] :reading, :done or :wrong (no HTTP, or incomplete)
      attr_reader :state

      # @param head [Boolean] whether the request was HEAD, so that the response has no content
      def initialize(head: false)
        @head = head
        begin_head
        @content, @rest, @state = "".b, "".b, :reading
      end

      # Called when the connection has ended. That completes content of unknown length. It also completes content whose
      # last chunk has arrived, because some servers omit the empty line after it.
      def finish
        @state = (@to_the_end || @part == :trailer) ? :done : :wrong if @state == :reading
      end

      def receive_line(line)
        return if @state == :wrong
        case @part
        when :head then read_head(line)
        when :chunk then read_chunk_size(line)
        when :chunk_end then line.empty? ? @part = :chunk : refuse
        when :trailer then finish_reading if line.empty?
        end
      end

      def receive_binary_data(data)
        return @rest << data if @state == :done
        return if @state == :wrong
        @content << data
        return if @to_the_end
        (@part == :chunk) ? @part = :chunk_end : finish_reading
      end

      private

      def begin_head
        @part, @blank_lines = :head, 0
        @header_lines, @headers, @status = [], {}, 0
      end

      def read_head(line)
        return end_head if line.empty? && @status > 0
        return ((@blank_lines += 1) > MAX_BLANK_LINES) ? refuse : nil if line.empty?
        @header_lines << line
        return refuse if @header_lines.size > MAX_HEADER_LINES
        return read_status(line) if @status.zero?
        name, value = line.match(HEADER)&.captures
        name ? (@headers[name.downcase] ||= []) << value : refuse
      end

      def read_status(line)
        @version, status = line.match(STATUS)&.captures
        @status = status.to_i
        refuse unless @version
      end

      def end_head
        return begin_head if @status.between?(100, 199) && @status != 101
        return finish_reading if @head || @status == 101 || @status == 204 || @status == 304
        return @part = :chunk if @headers["transfer-encoding"]&.last&.match?(/\bchunked\z/i)
        length = @headers["content-length"]&.uniq
        return read_to_the_end unless length
        return refuse unless length.size == 1 && length.first.match?(/\A\d+\z/)
        length.first.to_i.zero? ? finish_reading : read_text(length.first.to_i)
      end

      def read_text(size)
        @part = :text unless @part == :chunk
        set_text_mode(size)
      end

      def read_to_the_end
        @to_the_end = true
        set_text_mode
      end

      def read_chunk_size(line)
        size = line[/\A\h{1,8}(?=\s*(;|\z))/]&.hex or return refuse
        size.zero? ? @part = :trailer : read_text(size)
      end

      def finish_reading
        @state = :done
        set_text_mode # the following bytes are the rest
      end

      def refuse
        @state = :wrong
      end
    end
  end
end
