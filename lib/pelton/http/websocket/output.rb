# frozen_string_literal: true

module Pelton
  module HTTP
    # What a {WebSocket} sends. Frames are queued in the stream, which sends them at the end of the loop iteration.
    module WebSocketOutput
      # Queued bytes beyond which callback style is refused: twice as many as let direct style wait.
      MOST_QUEUED = 2 << 20
      # seconds: a program that does not look at its writes learns of the refused ones so often for each socket
      REPORT_EVERY = 1
      LIBRARY = File.expand_path("../..", __dir__)
      private_constant :MOST_QUEUED, :REPORT_EVERY, :LIBRARY

      # Sends a message: a binary String as binary, any other as text.
      #
      # Direct style returns when the message is queued, and waits while more than 1 MB is. Callback style never waits:
      # its block is called when the message was sent, and beyond 2 MB the call fails with {OverloadError}.
      #
      # @param message [String]
      # @param timeout [Numeric, nil] seconds; when the time is over, the message stays queued
      # @yieldparam socket [WebSocket]
      # @return [self, Operation] with a block the Deferrable
      # @raise [ArgumentError] the text is invalid in its encoding
      # @raise [TypeError] the message is not a String
      # @raise [ClosedError] the socket is closed, also while the call waits
      # @raise [OverloadError] in callback style
      # @raise [TimeoutError, ConnectionError]
      # @asynchronous when more than 1 MB is queued
      def write(message, timeout: nil, &block)
        return write_later(message, timeout: timeout, &block) if block
        frame = WebSocketMessage.new(message).frame(@deflate, masked: @client)
        raise closed_error unless open?
        transmit(frame, timeout)
        self
      end
      alias_method :<<, :write

      # @return [Integer] bytes that are queued and not sent yet, with the frames' heads
      def pending = @stream.pending

      # The descriptor of the connection, which stays the socket's.
      #
      # @return [Integer]
      def fileno = @stream.fileno

      # Sends a ping, to find out whether the peer is there.
      #
      # @param text [String] at most 125 bytes
      # @yield when the peer has answered
      # @return [self]
      # @raise [ArgumentError] the text is longer
      # @raise [ClosedError] the socket is closed
      # @asynchronous when more than 1 MB is queued
      def ping(text = "", &block)
        raise ArgumentError, "the text of a ping can have 125 bytes at most" if text.bytesize > 125
        raise closed_error unless open?
        (@pings ||= {})[text.b] = block if block
        send_frame(WebSocketFrames::PING, text)
        self
      end

      # Queues a message unless more bytes than the limit are queued already. Never waits.
      #
      # @param message [WebSocketMessage]
      # @return [Boolean, nil] whether it was queued; nil: the socket is closed
      # @raise [NotRunningError] no reactor runs
      # @private
      def push(message, limit) # for thousands of sockets in a row: each call counts
        return if @closing || @closed
        return false if @stream.pending > limit
        frame = message.frame(@deflate, masked: @client)
        @stream.put(frame)
        @queued += frame.bytesize
        watch_output unless @stalling
        true
      rescue ClosedError, ConnectionError
        nil # the connection has ended, and close_code says so
      end

      # Waits until all that is queued was sent.
      #
      # @raise [ClosedError, ConnectionError]
      # @private
      # @asynchronous
      def flush = @stream.flush

      # {#write}, which returns its Deferrable without a block, too.
      #
      # @private
      def write_later(message, timeout: nil, &block)
        return Deferrable.defer(block) { write(message, timeout: timeout) } unless Pelton.running?
        message = WebSocketMessage.new(message)
        operation = Operation.new
        operation.callback(&block) if block
        return operation.fail(closed_error) unless open?
        return refuse(operation) if pending > MOST_QUEUED
        frame = message.frame(@deflate, masked: @client)
        count(frame)
        sent = @stream.write_later(frame, timeout: timeout)
        sent.callback { operation.succeed(self) }
        sent.errback { |error| fail_write(operation, error) }
        operation
      end

      private

      # Each refused write fails, but only one in a while is reported where the program does not handle it, with the
      # line that has written.
      def refuse(operation)
        now = Clock.now
        due = @refusal_reported.nil? || now - @refusal_reported >= REPORT_EVERY
        before = "; #{@refused} writes to it were refused since the last report" if due && @refused.to_i.positive?
        error = OverloadError.new("#{pending} bytes are queued: the peer#{peer_address} reads too slowly#{before}")
        if due
          error.set_backtrace(caller.drop_while { |line| line.start_with?(LIBRARY) })
          @refusal_reported, @refused = now, 0
        else
          @refused += 1
          operation.errback {}
        end
        operation.fail(error)
      end

      def peer_address
        address = @stream.remote_address
        " #{address.inspect_sockaddr}" if address.ip?
      rescue SystemCallError
        nil
      end

      # A message that a peer did not take before it left is no error of the program: on_close notifies of it. So only
      # errbacks get the error, and it is not reported.
      def fail_write(operation, error)
        operation.errback {} unless error.is_a?(TimeoutError)
        operation.fail(error)
      end

      def send_frame(opcode, data) = transmit(WebSocketMessage.frame(opcode, data, masked: @client))

      def transmit(frame, timeout = nil)
        count(frame)
        @stream.write(frame, timeout: timeout)
      rescue ClosedError
        raise closed_error
      end

      # Queues a frame, however much is queued already, and never waits. Returns nil when the connection has ended.
      def put(frame)
        count(frame)
        Pelton.running? ? @stream.put(frame) : @stream.write(frame)
        true
      rescue ClosedError, ConnectionError
        nil # the connection has ended, and close_code says so
      end

      def put_close(code, reason)
        put(WebSocketMessage.frame(WebSocketFrames::CLOSE, [code, reason].pack("S>a*"), masked: @client))
      end

      # Counts a frame that is about to be queued.
      def count(frame)
        watch_output
        @queued += frame.bytesize
      end

      # Gives up a peer that takes no bytes. The timer exists only while messages are sent.
      def watch_output
        return if @stalling || !@write_timeout || !Pelton.running?
        taken = @queued - @stream.pending
        @stalling = Pelton.add_timer(@write_timeout) do
          @stalling = nil
          next if @closed || @stream.pending.zero?
          next watch_output if @queued - @stream.pending > taken
          give_up("the peer has taken no bytes for #{@write_timeout} s")
        end
      end

      def closed_error
        return ClosedError.new("the WebSocket is closed") unless @closed
        ClosedError.new("the WebSocket is closed: #{[@close_code, @close_reason].join(" ").strip}")
      end
    end
  end
end
