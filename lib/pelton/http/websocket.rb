# frozen_string_literal: true

require_relative "client"
begin
  require "websocket/driver"
rescue LoadError
  raise LoadError, "Pelton::HTTP::WebSocket needs the gem websocket-driver (and, to compress, permessage_deflate): add it to your Gemfile"
end
require_relative "websocket_deflate"
require_relative "websocket_frames"
require_relative "websocket_handshake"

module Pelton
  module HTTP
    # A WebSocket (RFC 6455), of either side: {WebSocket.accept} on a server's, {WebSocket.connect} on a client's.
    #
    # Direct style: {#receive} waits for the next message, {#each} goes on until the end. Callback style: {#on_message} is
    # given each, in order; one that waits holds up this socket alone. Pings are answered in either.
    #
    # Messages are Strings: text in UTF-8, everything else binary. It is used on the thread that opened it.
    class WebSocket
      extend WebSocketHandshake

      # The server did not agree to a WebSocket.
      class HandshakeError < ConnectionError
        def retriable? = false
      end

      # Bytes of a message, inflated: a longer one closes the socket with code 1009.
      MAX_MESSAGE = 16 << 20
      # Seconds that the peer may take to say farewell, too.
      CLOSE_TIMEOUT = 5
      # Seconds in which bytes of a peer that broke the protocol are dropped, so that it sees why.
      LINGER = 2
      # Codes that may be sent: those of RFC 6455 and its registry, those of libraries, and those of applications.
      CODES = [1000..1003, 1007..1014, 3000..4999].freeze
      # Messages, and bytes of them, that are received before anybody asks for them.
      AHEAD = 1000
      AHEAD_BYTES = 1 << 20

      # Bytes that are parsed at once: thousands of frames. More would hold up others when they are tiny.
      SLICE = 8192
      # Seconds of parsing after which it is the others' turn.
      TURN = 0.001

      # What a driver writes to. One with an environment is a server's.
      ServerWire = Struct.new(:stream, :env) { def write(bytes) = stream.write(bytes) }
      ClientWire = Struct.new(:stream, :url) { def write(bytes) = stream.write(bytes) }
      private_constant :LINGER, :CODES, :SLICE, :TURN, :ServerWire, :ClientWire

      # @return [String, nil] the subprotocol that was agreed upon
      def protocol = @driver.protocol

      # @return [Integer, nil] why it was closed: 1000 in good order, 1006 when the connection ended without a farewell
      attr_reader :close_code

      # @return [String, nil]
      attr_reader :close_reason

      # @private See {WebSocketHandshake}.
      def initialize(stream, env: nil, url: nil, protocols: [], headers: {}, deflate: WebSocketDeflate.available?, max_message: MAX_MESSAGE, ping: 30)
        @stream = stream
        @incoming = []
        @incoming_bytes = 0
        @waiting = []
        @ping = ping
        @frames = WebSocketFrames.new(masked: !env.nil?, limit: max_message)
        options = {max_length: max_message, protocols: Array(protocols)}
        @driver = env ? ::WebSocket::Driver.rack(ServerWire.new(stream, env), options) : ::WebSocket::Driver.client(ClientWire.new(stream, url), options)
        @driver.add_extension(WebSocketDeflate.extension(max_message)) if deflate
        headers.each { |name, value| @driver.set_header(name, value) }
        listen
        @driver.start
      end

      # @private Gives it the head of the server's answer.
      def shake_hands(head) = @driver.parse(head)

      # @private Gives it what was received. Several fibers may be in here, but never at once.
      def feed(bytes)
        @heard = true
        (0...bytes.bytesize).step(SLICE) do |at|
          break if @closed
          began = Clock.now
          parse((bytes.bytesize > SLICE) ? bytes.byteslice(at, SLICE) : bytes)
          deliver
          Reactor.current.yield if at + SLICE < bytes.bytesize && Clock.now - began > TURN && Pelton.running?
        end
      end

      # @private The handshake is over: from now on it reads by itself, where a reactor runs.
      # @param sockets [Hash{WebSocket => true}] has it until it is closed
      def begin(sockets = {})
        raise HandshakeError, @error if @error
        (@sockets = sockets)[self] = true
        return self unless Pelton.running?
        @stream.on_close do
          @closing&.cancel
          lost
        end
        @stream.on_data { |bytes| feed(bytes) }
        @pinging = Pelton.add_periodic_timer(@ping) { check_peer } if @ping
        deliver
        self
      end

      # @private
      def open? = @driver.state == :open && !@closing && !@stream.closed?

      # The next message.
      #
      # @param timeout [Numeric, nil] seconds
      # @return [String, nil, Operation] nil when the socket is closed: {#close_code} says why; with a block the Deferrable
      # @raise [TimeoutError]
      # @asynchronous
      def receive(timeout: nil, &block)
        return Pelton.__send__(:defer, block) { receive(timeout: timeout) } if block
        raise Error, "on_message is given what this socket receives" if @on_message
        return take if @incoming.any?
        return if @closed
        Pelton.running? ? wait(timeout) : pull(timeout)
      end

      # Yields each message until the socket is closed.
      #
      # @yieldparam message [String]
      # @return [self]
      # @asynchronous
      def each
        while (message = receive)
          yield message
        end
        self
      end

      # Sends a message: a binary String as binary, any other as text.
      #
      # @param message [String]
      # @return [self, Operation] with a block the Deferrable
      # @raise [ArgumentError] it is text, and no UTF-8
      # @raise [ClosedError]
      # @raise [TimeoutError, ConnectionError]
      # @asynchronous when more than 1 MB is queued
      def write(message, &block)
        return Pelton.__send__(:defer, block) { write(message) } if block
        message = message.encode(Encoding::UTF_8) unless message.encoding == Encoding::BINARY
        raise ArgumentError, "this text is no #{message.encoding}: send what is no text as a binary String" unless message.valid_encoding?
        raise ClosedError, "the WebSocket is closed" unless open? && @driver.frame(message)
        self
      end
      alias_method :<<, :write

      # Asks whether the peer is there.
      #
      # @param text [String] at most 125 bytes
      # @yield when it has answered
      # @return [self]
      # @raise [ArgumentError] it is longer
      # @raise [ClosedError]
      def ping(text = "", &block)
        raise ArgumentError, "a ping has 125 bytes at most" if text.bytesize > 125
        raise ClosedError, "the WebSocket is closed" unless open? && @driver.ping(text, &block)
        self
      end

      # Says farewell, and closes when the peer has done so too, or after {CLOSE_TIMEOUT}. What it sends meanwhile is still
      # received. Legal when it is closed. The server's {Server#stop} does so with code 1001.
      #
      # @param code [Integer] 1000, or 3000 to 4999, or what else RFC 6455 lets be sent
      # @param reason [String] at most 123 bytes
      # @return [nil]
      # @raise [ArgumentError]
      def close(code = 1000, reason = "")
        raise ArgumentError, "#{code} is no code that may be sent: take 1000, or one of 3000 to 4999" unless CODES.any? { |range| range.cover?(code) }
        raise ArgumentError, "the reason is no text of 123 bytes at most" if reason.bytesize > 123 || !reason.valid_encoding?
        return unless open?
        return close_blocking(code, reason) unless Pelton.running?
        @closing = Pelton.add_timer(CLOSE_TIMEOUT) { @stream.abort } # first: a peer that reads nothing holds up what is sent
        @driver.close(reason, code)
        nil
      rescue ClosedError, ConnectionError
        nil # it ended without a farewell, and says so
      end

      # Has the block called with each message, and with those that came before. The socket is kept until it is closed.
      #
      # @yieldparam message [String]
      # @return [self]
      def on_message(&block)
        @on_message = block
        Pelton.next_tick { deliver } if @incoming.any?
        self
      end

      # Has the block called once, when it is closed by either side.
      #
      # @yieldparam code [Integer] see {#close_code}
      # @yieldparam reason [String]
      # @return [self]
      def on_close(&block)
        @closed ? block.call(@close_code, @close_reason) : @on_close = block
        self
      end

      # @return [Boolean]
      def closed? = !!@closed

      # Whether callbacks are given the messages.
      # @private
      def callbacks? = !!@on_message

      # The same methods, each returning its Deferrable.
      #
      # @return [Later]
      def later = Later.new(self)

      # A socket's methods, each returning its Deferrable.
      class Later
        # @private
        def initialize(socket) = @socket = socket

        %i[receive write].each do |name|
          define_method(name) { |*arguments, **options| Pelton.__send__(:defer, nil) { @socket.public_send(name, *arguments, **options) } }
        end
      end

      private

      def listen
        @driver.on(:message) { |event| keep(event.data) }
        @driver.on(:error) { |event| @refused = @error = event.message }
        @driver.on(:close) { |event| finish(event.code, event.reason) }
      end

      # The driver has what comes before a frame that is not to be.
      def parse(bytes)
        fault = @frames.look(bytes)
        @driver.parse(fault ? bytes.byteslice(0, fault.good) : bytes)
        refuse(fault.code, fault.reason) if fault && !@closed
      end

      def refuse(code, reason)
        @refused = true
        @driver.close(reason, code)
        finish(code, reason)
      end

      def keep(message)
        @incoming << message
        @incoming_bytes += message.bytesize
        @stream.pause if !@on_message && (@incoming.size >= AHEAD || @incoming_bytes >= AHEAD_BYTES)
      end

      def take
        message = @incoming.shift
        @incoming_bytes -= message.bytesize
        @stream.resume if @incoming.empty? && @stream.paused?
        message
      end

      # After the driver has parsed, so that what a block raises leaves the driver in order.
      def deliver
        return if @delivering
        @delivering = true
        while @incoming.any?
          if @on_message
            call(@on_message, take)
          else
            waiting = @waiting.shift || break
            waiting.succeed(take) if waiting.state == :pending
          end
        end
        @waiting.each { |waiting| waiting.succeed(nil) if waiting.state == :pending }.clear if @closed
      ensure
        @delivering = false
      end

      def call(block, *arguments)
        block.call(*arguments)
      rescue ClosedError => error
        Pelton.report_error(error) if open?
      rescue => error
        Pelton.report_error(error)
      end

      def wait(timeout)
        operation = Operation.new
        @waiting << operation
        operation.await(timeout: timeout)
      ensure
        @waiting.delete(operation)
      end

      # Where no reactor runs.
      def pull(timeout)
        parse(@stream.readpartial(65_536, timeout: timeout)) while @incoming.empty? && !@closed
        take if @incoming.any?
      rescue EOFError, ConnectionError => error
        raise if error.is_a?(TimeoutError)
        lost
      end

      def close_blocking(code, reason)
        @driver.close(reason, code)
        parse(@stream.readpartial(65_536, timeout: CLOSE_TIMEOUT)) until @closed
      rescue EOFError, ConnectionError
        lost
      ensure
        @stream.close
      end

      # The connection ended.
      def lost
        finish(1006, "the connection ended without a farewell")
        nil
      end

      def finish(code, reason)
        return if @closed
        @closed = true
        @sockets&.delete(self)
        @close_code = code
        @close_reason = reason
        [@pinging, @closing].compact.each(&:cancel)
        (@refused && @sockets && Pelton.running? && !@stream.closed?) ? linger : @stream.close
        call(@on_close, code, reason) if @on_close
        deliver unless @delivering
      end

      # Bytes that nobody reads would have the connection reset, and the peer not see why.
      def linger
        @stream.close_write
        @stream.resume if @stream.paused?
        @closing = Pelton.add_timer(LINGER) { @stream.abort }
      rescue ConnectionError
        @stream.abort # it has left
      end

      # A peer that has sent nothing, not even an answer to the last ping, is gone.
      def check_peer
        @heard = true if @delivering || @stream.paused? # nobody listens to it just now
        if @heard == false
          finish(1006, "the peer sent nothing for #{@ping} s, not even an answer to a ping")
          return @stream.abort
        end
        @heard = false
        @driver.ping
      end
    end
  end
end
