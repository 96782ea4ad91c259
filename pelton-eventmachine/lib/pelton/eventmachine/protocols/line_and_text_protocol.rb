# frozen_string_literal: true

module EventMachine
  module Protocols
    # Lines, with blocks of binary data between them. A subclass defines the methods that it needs:
    #
    # - `receive_line(line)`, called with a line without its end
    # - `receive_binary_data(data)` and then `receive_end_of_binary_data`, called after {#set_binary_mode}
    # - `receive_error(message)`, called before the connection is closed because a line was longer than {MaxLineLength},
    #   or because `receive_line` raised an error
    #
    # {LineText2} does the same for any connection, with other delimiters and without these limits.
    class LineAndTextProtocol < Connection
      # The longest line, in bytes.
      MaxLineLength = 16 * 1024 # standard:disable Naming/ConstantName
      # The longest block of binary data, in bytes.
      MaxBinaryLength = 32 * 1024 * 1024 # standard:disable Naming/ConstantName

      def initialize(*)
        super
        lbp_set_up
        @lbp_binary = false
      end

      # @private
      def receive_data(data)
        @lbp_buffer << data
        until @em_transport.deaf?
          break unless @lbp_binary ? lbp_take_binary : lbp_take_line
        end
        @lbp_buffer = @lbp_buffer.byteslice(@lbp_start..) if @lbp_start > 0
        @lbp_start = 0
      rescue => error
        lbp_refuse(error)
      end

      # Switches to binary data. `receive_binary_data` is called once, when all `size` bytes have arrived; then lines
      # follow. When the connection ends before, it is called with the bytes that have arrived.
      #
      # @param size [Integer, nil] bytes, up to {MaxBinaryLength}; nil: all following bytes are delivered as they arrive
      # @raise [RuntimeError] when the size is above the limit
      def set_binary_mode(size = nil)
        return lbp_deliver("") if size == 0
        raise "overlength binary data" if size && size > MaxBinaryLength
        @lbp_binary, @lbp_size = true, size
      end

      # @private
      def unbind(*)
        return unless @lbp_binary && !@lbp_buffer.empty?
        data = @lbp_buffer
        lbp_set_up
        lbp_deliver(data)
      end

      private

      def lbp_set_up
        @lbp_buffer = "".b
        @lbp_start = 0 # the index of the first byte that was not delivered yet
      end

      def lbp_take_line
        stop = @lbp_buffer.index(LineText2::NEWLINE, @lbp_start)
        raise "overlength line" if (stop || @lbp_buffer.size) - @lbp_start > MaxLineLength
        return unless stop
        line = @lbp_buffer.byteslice(@lbp_start, stop - @lbp_start).delete_suffix("\r")
        @lbp_start = stop + 1
        receive_line(line) if respond_to?(:receive_line)
        true
      end

      def lbp_take_binary
        left = @lbp_buffer.size - @lbp_start
        return if left == 0 || (@lbp_size && left < @lbp_size)
        data = @lbp_buffer.byteslice(@lbp_start, @lbp_size || left)
        @lbp_start += data.size
        @lbp_binary = false if @lbp_size
        lbp_deliver(data)
        true
      end

      def lbp_deliver(data)
        receive_binary_data(data) if respond_to?(:receive_binary_data)
        receive_end_of_binary_data if !@lbp_binary && respond_to?(:receive_end_of_binary_data)
      end

      # A violation of the protocol closes the peer's connection, and no other.
      def lbp_refuse(error)
        lbp_set_up
        close_connection
        respond_to?(:receive_error) ? receive_error(error.message) : Pelton.report_error(error)
      end
    end
  end
end
