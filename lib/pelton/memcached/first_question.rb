# frozen_string_literal: true

module Pelton
  module Memcached
    # What the client asks on each connection before it sends anything else: whether the server speaks the meta protocol
    # as memcached does since 1.6.10. Others would read the value of a meta set as commands, so they must never get one:
    # memcached before 1.5.19 knows no meta commands, and 1.5.19 to 1.6.9 expect the length of a set in another place.
    #
    # @private
    class FirstQuestion
      # Neither has an effect.
      COMMANDS = "mn\r\nversion\r\n"
      TOO_OLD = /\AVERSION (1\.[0-5]\.\d+|1\.6\.\d)(?!\d)/
      private_constant :COMMANDS, :TOO_OLD

      # @param address [Address] for messages
      # @param stream [Stream]
      # @param deadline [Float] by {Clock}
      def initialize(address, stream, deadline)
        @address = address
        @stream = stream
        @deadline = deadline
      end

      # Returns if the server speaks it.
      #
      # @raise [ProtocolError] it does not
      # @raise [ConnectionError] it closed the connection
      # @raise [TimeoutError]
      # @asynchronous
      def ask
        @stream.write(COMMANDS)
        check_meta(line)
        check_version(line)
      rescue TimeoutError
        raise TimeoutError, "memcached at #{@address} accepted the connection but does not answer"
      end

      private

      def line
        line = @stream.gets("\r\n", limit: 2048, timeout: Clock.left(@deadline))
        return line if line&.end_with?("\r\n")
        raise ConnectionError, "memcached at #{@address} closed the connection when it was asked for meta commands " \
          "(a proxy that does not know them may do so)"
      rescue LimitError
        refuse("answered without the end of a line")
      end

      def check_meta(answer)
        return if answer == "MN\r\n"
        refuse((answer == "ERROR\r\n") ? "does not know meta commands" : "answered #{answer.dump} instead of MN")
      end

      def check_version(answer)
        refuse("has version #{answer[TOO_OLD, 1]}") if TOO_OLD.match?(answer)
      end

      def refuse(what)
        raise ProtocolError, "memcached at #{@address} #{what}: memcached 1.6.10 or later is needed"
      end
    end
  end
end
