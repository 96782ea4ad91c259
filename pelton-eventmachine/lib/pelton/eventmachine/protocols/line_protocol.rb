# frozen_string_literal: true

module EventMachine
  module Protocols
    # A protocol of lines: `receive_line` is called with each.
    #
    #     module Echo
    #       include EM::P::LineProtocol
    #
    #       def receive_line(line)
    #         send_data("you said: #{line}\n")
    #       end
    #     end
    module LineProtocol
      # @private
      def receive_data(data)
        (@lp_buffer ||= "".b) << data
        start = 0
        while !@em_transport&.deaf? && (stop = @lp_buffer.index(LineText2::NEWLINE, start))
          line = @lp_buffer.byteslice(start, stop - start).delete_suffix("\r")
          start = stop + 1
          receive_line(line)
        end
      ensure
        @lp_buffer = @lp_buffer.byteslice(start..) if start&.positive?
      end

      # Called with each line, without its end ("\n" or "\r\n").
      #
      # @param line [String]
      def receive_line(line)
      end
    end
  end
end
