# frozen_string_literal: true

module EventMachine
  module Protocols
    # Lines, with blocks of binary data ("text") between them. What is called may change from one to the other, and what
    # ends a line, at any time.
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

      # In the buffer's own encoding: another one would have all of the buffer looked through for each line.
      NEWLINE = "\n".b.freeze

      # @private
      def receive_data(data)
        return if data.nil? || data.empty?
        lt2_set_up unless @lt2_buffer
        @lt2_buffer << ((data.encoding == Encoding::BINARY) ? data : data.b)
        lt2_consume
      end

      # Sets what ends a line: "\n" at first, which takes a "\r" before it along.
      #
      # @param delimiter [String, Symbol, Regexp]
      # @raise [ArgumentError] when it is empty: that would never end a line
      def set_delimiter(delimiter)
        delimiter = delimiter.to_s.b.freeze unless delimiter.is_a?(Regexp)
        raise ArgumentError, "a delimiter has at least one character" if delimiter == ""
        @lt2_delimiter = delimiter
        @lt2_searched = @lt2_start
      end

      # Goes on with lines.
      #
      # @param data [String] to be read before what comes next: a part of the text that turned out not to belong to it
      def set_line_mode(data = "")
        # In a call of ours the buffer holds what comes next. Otherwise it is a line or text that ends here unfinished.
        later = @lt2_buffer.byteslice(@lt2_start..) if @lt2_consuming
        lt2_set_up
        @lt2_text = false
        receive_data(data.to_s)
      ensure
        @lt2_buffer << later if later
      end

      # Goes on with text.
      #
      # @param size [Integer, nil] bytes, which {#receive_binary_data} gets at once, when all are there; then lines go on.
      #   nil: all that follows, as it comes
      # @raise [ArgumentError] when it is negative
      def set_text_mode(size = nil)
        return set_line_mode if size == 0
        raise ArgumentError, "a text has 0 bytes or more, not #{size}" if size&.negative?
        lt2_set_up unless @lt2_consuming
        @lt2_text, @lt2_size = true, size
      end

      # The same as {#set_text_mode}.
      def set_binary_mode(size = nil) = set_text_mode(size)

      # Delivers the part of a text that had come before the connection ended.
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

      # Called after a text of known size, when lines go on.
      def receive_end_of_binary_data
      end

      private

      def lt2_set_up
        @lt2_buffer = "".b
        @lt2_start = 0 # of what was not delivered yet
        @lt2_searched = 0
      end

      # Until nothing is left that is complete, or the connection is closed. What is delivered counts as gone before anything is called, so that it may
      # call back, or raise.
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
        @lt2_text = false # first, so that what is called can ask for the next text
        receive_binary_data(data)
        receive_end_of_binary_data
        true
      end
    end
  end
end
