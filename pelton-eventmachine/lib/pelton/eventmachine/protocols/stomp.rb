# frozen_string_literal: true

module EventMachine
  module Protocols
    # A client of STOMP.
    #
    #     module Client
    #       include EM::P::Stomp
    #
    #       def connection_completed
    #         connect login: "guest", passcode: "guest"
    #       end
    #
    #       def receive_msg(message)
    #         case message.command
    #         when "CONNECTED" then subscribe("/some/topic", true)
    #         when "MESSAGE" then ack(message.headers["message-id"])
    #         end
    #       end
    #     end
    module Stomp
      include LineText2

      # A message of the server.
      class Message
        # @return [String] CONNECTED, MESSAGE, RECEIPT or ERROR
        attr_accessor :command
        # @return [Hash{String => String}]
        attr_accessor :header
        alias_method :headers, :header
        # @return [String] binary
        attr_accessor :body

        def initialize
          @header = {}
          @body = ""
        end
      end

      # Sends a frame.
      #
      # @param command [String]
      # @param headers [Hash]
      # @param body [#to_s]
      # @raise [ArgumentError] when a header contains a line feed or a NUL byte, which would begin another header or
      #   frame
      def send_frame(command, headers = {}, body = "")
        body = body.to_s
        lines = headers.map { |name, value| "#{name}:#{value}" }
        lines << "content-length: #{body.bytesize}" << "content-type: text/plain; charset=UTF-8"
        wrong = lines.find { |line| line.match?(/[\n\0]/) } and raise ArgumentError,
          "a header contains a line feed or a NUL byte: #{wrong.inspect}"
        send_data([command, *lines, "", body].join("\n") << "\0")
      end

      # Called with each {Message}.
      def receive_msg(message)
      end

      # @param parameters [Hash] :login, :passcode and others
      def connect(parameters = {}) = send_frame("CONNECT", parameters)

      # Sends a message to a destination.
      def send(destination, body, parameters = {})
        send_frame("SEND", parameters.merge(destination: destination), body.to_s)
      end

      # @param acknowledge [Boolean] whether the server expects an {#ack} for each message
      def subscribe(destination, acknowledge = false)
        send_frame("SUBSCRIBE", destination: destination, ack: acknowledge ? "client" : "auto")
      end

      # @param id [String] a message's "message-id"
      def ack(id) = send_frame("ACK", "message-id": id)

      # @private
      def receive_line(line)
        return stomp_read(line) unless @stomp_in_body
        @stomp_in_body = false
        set_delimiter("\n")
        stomp_deliver(line)
      end

      # A body of known length arrives with a NUL byte after it.
      # @private
      def receive_binary_data(data) = stomp_deliver(data.delete_suffix("\0"))

      # @private
      def init_message_reader
        @stomp_message = nil
        @stomp_in_body = false
        set_line_mode
      end

      private

      def stomp_read(line)
        line = line.delete_suffix("\r")
        return stomp_end_headers if line.empty?
        return (@stomp_message = Message.new).command = line unless @stomp_message
        name, value = line.split(":", 2)
        @stomp_message.header[name] ||= value.strip if value # of repeated headers the first one counts
      end

      def stomp_end_headers
        return unless @stomp_message # line feeds between frames
        length = @stomp_message.header.find { |name, _| name.casecmp?("content-length") }&.last
        return set_text_mode(Integer(length, 10) + 1) if length&.match?(/\A\d+\z/)
        @stomp_in_body = true
        set_delimiter("\0")
      end

      def stomp_deliver(body)
        message, @stomp_message = @stomp_message, nil
        message.body = body
        receive_msg(message)
      end
    end
  end
end
