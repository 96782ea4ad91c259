# frozen_string_literal: true

module EventMachine
  module Protocols
    # {LineText2} as a class with limits. `receive_error(message)`, if a subclass defines it, is called before the connection is closed
    # because a line was longer than {MaxLineLength}, or because `receive_line` raised an error.
    class LineAndTextProtocol < Connection
      include LineText2

      # The longest line, in bytes.
      MaxLineLength = 16 * 1024 # standard:disable Naming/ConstantName
      # The longest block of binary data, in bytes.
      MaxBinaryLength = 32 * 1024 * 1024 # standard:disable Naming/ConstantName

      # @private
      def receive_data(data)
        super
      rescue => error
        lbp_refuse(error)
      end

      # Switches to binary data: see {LineText2#set_text_mode}.
      #
      # @raise [RuntimeError] when the size is above {MaxBinaryLength}
      def set_binary_mode(size = nil)
        raise "overlength binary data" if size && size > MaxBinaryLength
        return super unless size == 0
        receive_binary_data("")
        receive_end_of_binary_data
      end

      private

      def lt2_end_of_line
        stop, after = super
        raise "overlength line" if (stop || @lt2_buffer.size) - @lt2_start > MaxLineLength
        [stop, after]
      end

      # A violation of the protocol closes the peer's connection, and no other.
      def lbp_refuse(error)
        lt2_set_up
        close_connection
        respond_to?(:receive_error) ? receive_error(error.message) : Pelton.report_error(error)
      end
    end
  end
end
