# frozen_string_literal: true

module EventMachine
  module Protocols
    # Lines, with blocks of binary data ("text") between them. A method that is called may switch between lines and
    # text, or change the delimiter, at any time.
    #
    #     module Handler
    #       include EM::P::LineText2
    #
    #       def receive_line(line)
    #         set_text_mode($1.to_i) if line =~ /\AContent-length: (\d+)/
    #       end
    #
    #       def receive_binary_data(data)
    #         ...
    #       end
    #     end
    module LineText2
      MaxBinaryLength = 32 * 1024 * 1024 # standard:disable Naming/ConstantName

      # In the buffer's own encoding. With another one Ruby would scan the whole buffer for each line.
      NEWLINE = "\n".b.freeze

      # @private
      def receive_data(data)
        return if data.nil? || data.empty?
        lt2_set_up unless @lt2_buffer
        @lt2_buffer << ((data.encoding == Encoding::BINARY) ? data : data.b)
        lt2_consume
      end

      # Sets the delimiter of lines. The default is "\n", and a "\r" before it is removed, too.
      #
      # @param delimiter [String, Symbol, Regexp]
      # @raise [ArgumentError] when it is empty
      def set_delimiter(delimiter)
        delimiter = delimiter.to_s.b.freeze unless delimiter.is_a?(Regexp)
        raise ArgumentError, "the delimiter is empty" if delimiter == ""
        @lt2_delimiter = delimiter
        @lt2_searched = @lt2_start
      end

      # Switches to lines.
      #
      # @param data [String] read before the following bytes; for a part of the text that turned out to belong to the
      #   lines
      def set_line_mode(data = "")
        # Inside a callback the buffer has the bytes that follow. Otherwise it has an unfinished line or text, which is
        # dropped.
        later = @lt2_buffer.byteslice(@lt2_start..) if @lt2_consuming
        lt2_set_up
        @lt2_text = false
        receive_data(data.to_s)
      ensure
        @lt2_buffer << later if later
      end

      # Switches to text.
      #
      # @param size [Integer, nil] bytes: {#receive_binary_data} is called once, when all have arrived, and then lines
      #   follow; nil: all following bytes are delivered as they arrive
      # @raise [ArgumentError] when it is negative
      def set_text_mode(size = nil)
        return set_line_mode if size == 0
        raise ArgumentError, "the size of a text is negative: #{size}" if size&.negative?
        lt2_set_up unless @lt2_consuming
        @lt2_text, @lt2_size = true, size
      end

      # See {#set_text_mode}.
      def set_binary_mode(size = nil) = set_text_mode(size)

      # Delivers the part of a text that arrived before the connection ended.
      def unbind(*)
        return unless @lt2_text && @lt2_size && @lt2_buffer && !@lt2_buffer.empty?
        data = @lt2_buffer
        lt2_set_up
        receive_binary_data(data)
      end

      # Called with each line, without its end.
      #
      # @param line [String] binary
      def receive_line(line)
      end

      # Called with a text.
      #
      # @param data [String] binary
      def receive_binary_data(data)
      end

      # Called after a text of known size, before lines follow.
      def receive_end_of_binary_data
      end

      private

      def lt2_set_up
        @lt2_buffer = "".b
        @lt2_start = 0 # the index of the first byte that was not delivered yet
        @lt2_searched = 0
      end

      # Delivers all complete lines and texts, until the connection is closed. Each is removed before its callback is
      # called, so that the callback may call these methods, or raise.
      def lt2_consume
        outer, @lt2_consuming = @lt2_consuming, true
        until @em_transport&.deaf?
          break unless @lt2_text ? lt2_take_text : lt2_take_line
        end
      ensure
        @lt2_consuming = outer
        lt2_compact
      end

      def lt2_compact
        return if @lt2_start == 0
        @lt2_searched -= @lt2_start
        @lt2_buffer = @lt2_buffer.byteslice(@lt2_start..)
        @lt2_start = 0
      end

      def lt2_take_line
        stop, after = lt2_end_of_line
        return unless stop
        line = @lt2_buffer.byteslice(@lt2_start, stop - @lt2_start)
        @lt2_start = @lt2_searched = after
        line.delete_suffix!("\r") unless @lt2_delimiter
        receive_line(line)
        true
      end

      def lt2_end_of_line
        delimiter = @lt2_delimiter || NEWLINE
        if delimiter.is_a?(Regexp)
          match = delimiter.match(@lt2_buffer, @lt2_start)
          return match && [match.begin(0), [match.end(0), @lt2_start + 1].max]
        end
        stop = @lt2_buffer.index(delimiter, @lt2_searched)
        return stop, stop + delimiter.size if stop
        @lt2_searched = [@lt2_buffer.size - delimiter.size + 1, @lt2_start].max
        nil
      end

      def lt2_take_text
        left = @lt2_buffer.size - @lt2_start
        return if left == 0 || (@lt2_size && left < @lt2_size)
        data = @lt2_buffer.byteslice(@lt2_start, @lt2_size || left)
        @lt2_start = @lt2_searched = @lt2_start + data.size
        return receive_binary_data(data) || true unless @lt2_size
        @lt2_text = false # before the callback, which may switch to the next text
        receive_binary_data(data)
        receive_end_of_binary_data
        true
      end
    end
  end
end
