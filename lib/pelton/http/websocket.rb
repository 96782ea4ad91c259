# frozen_string_literal: true

require_relative "client"
begin
  require "websocket/driver"
rescue LoadError
  raise LoadError, "Pelton::HTTP::WebSocket needs the gem websocket-driver (and, to compress, permessage_deflate): " \
    "add it to your Gemfile"
end
require_relative "websocket/deflate"
# Loads the gems' files now: the first handshake would load them inside the loop.
[WebSocket::Driver::Client, WebSocket::Driver::StreamReader, WebSocket::Driver::Headers, WebSocket::HTTP::Response,
  WebSocket::Extensions::Parser]
Pelton::HTTP::WebSocketDeflate.available?
require_relative "websocket/frames"
require_relative "websocket/handshake"
require_relative "websocket/message"
require_relative "websocket/output"

module Pelton
  module HTTP
    # A WebSocket (RFC 6455): {WebSocket.accept} makes a server's, {WebSocket.connect} a client's. {Room} sends to many.
    #
    # Direct style: {#receive} waits for the next message, {#each} yields all until the end. Callback style:
    # {#on_message}'s block gets each message, in order; while the block waits, only this socket waits. Pings are
    # answered in both styles.
    #
    # Messages are Strings: text is UTF-8, everything else is binary. A socket belongs to the thread that opened it.
    class WebSocket
      include Opaque
      extend WebSocketHandshake
      include WebSocketOutput

      autoload :Room, "pelton/http/websocket/room"

      # The server did not accept the WebSocket.
      class HandshakeError < ConnectionError
        def retriable? = false
      end

      # Bytes of a message, inflated: a longer one closes the socket with code 1009.
      MAX_MESSAGE = 16 << 20
      # Limits of a socket, in seconds and bytes.
      DEFAULTS = {
        max_message: MAX_MESSAGE, # bytes of a received message, inflated
        # Between two pings; a peer that sends nothing between two of them is given up. nil: no pings
        ping: 30,
        # During which the peer takes no byte of the queued messages: then it is given up, within twice
        write_timeout: 60
        #                           that time. nil: no limit
      }.freeze
      # Seconds that the peer may take to answer a close frame.
      CLOSE_TIMEOUT = 5
      # Seconds during which further bytes of a peer that violated the protocol are read and dropped: otherwise a reset
      # could keep the close frame from arriving.
      LINGER = 2
      # Messages, and their bytes, that are received before {#receive} asks for them.
      AHEAD = 1000
      AHEAD_BYTES = 1 << 20

      # Bytes that are parsed at once. They may be thousands of tiny frames, and others wait meanwhile.
      SLICE = 8192
      # Seconds of parsing after which others get a turn.
      BUDGET = 0.001
      private_constant :LINGER, :SLICE, :BUDGET

      # @return [String, nil] the subprotocol that both sides agreed on
      attr_reader :protocol

      # @return [Integer, nil] the close code: 1000 for a normal end, 1006 if the connection ended without a close
      #   frame; nil while the socket is open
      attr_reader :close_code

      # @return [String, nil] the text that came with the close code
      attr_reader :close_reason

      # @private See {WebSocketHandshake}.
      def initialize(stream, frames, client:, protocol:, deflate:, ping:, write_timeout:)
        @stream = stream
        @frames = frames
        @client = client
        @protocol = protocol
        @deflate = deflate
        @ping = ping
        @write_timeout = write_timeout
        @queued = 0 # bytes that were ever queued
        @incoming = []
        @incoming_bytes = 0
        @waiting = []
        @registries = []
      end

      # @private Begins after the handshake. Where a reactor runs, the socket reads by itself from now on.
      # @param server [Server, nil] whose stop closes the socket
      def begin(server = nil)
        @server = server
        @attachment = server&.attach(self)
        return self unless Pelton.running?
        @stream.on_close do
          @closing&.cancel
          lost
        end
        @stream.on_data { |bytes| feed(bytes) }
        @pinging = Pelton.add_periodic_timer(@ping) { check_peer } if @ping
        self
      end

      # @private The socket is deleted from the registry when it is closed.
      # @return [#delete] the registry
      def enter(registry) = @registries.push(registry).last

      # @private
      def leave(registry) = @registries.delete_if { |one| one.equal?(registry) }

      # Lets the server's stop close another object than this socket, which knows how to say farewell.
      #
      # @param closable [#close] see {Server#attach}
      # @return [Attachment]
      # @private
      def hand_over(closable)
        @attachment.detach
        @server.attach(closable)
      end

      # @private
      def open? = !@closing && !@closed && !@stream.closed?

      # Receives the next message.
      #
      # @param timeout [Numeric, nil] seconds
      # @return [String, nil, Operation] nil when the socket is closed, see {#close_code}; with a block the Deferrable
      # @raise [TimeoutError] no message has come in time
      # @raise [Error] {#on_message} is set
      # @asynchronous
      def receive(timeout: nil, &block)
        return Deferrable.defer(block) { receive(timeout: timeout) } if block
        raise Error, "this socket's messages go to on_message" if @on_message
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

      # Sends a close frame, and closes the connection when the peer has answered with its own, or after
      # {CLOSE_TIMEOUT}. Messages that come meanwhile are still received. It may be called more than once. {Server#stop}
      # closes with code 1001. It never waits, unless no reactor runs.
      #
      # @param code [Integer] 1000, 3000 to 4999, or another code that RFC 6455 allows to be sent
      # @param reason [String] at most 123 bytes
      # @return [nil]
      # @raise [ArgumentError] the code or the reason cannot be sent
      def close(code = 1000, reason = "")
        unless WebSocketFrames::CODES.any? { |range| range.cover?(code) }
          raise ArgumentError, "the code #{code} cannot be sent: take 1000, or one of 3000 to 4999"
        end
        if reason.bytesize > 123 || !reason.valid_encoding?
          raise ArgumentError, "the reason must be text of 123 bytes at most"
        end
        return unless open?
        return close_blocking(code, reason) unless Pelton.running?
        put_close(code, reason)
        @closing = Pelton.add_timer(CLOSE_TIMEOUT) { @stream.abort }
        nil
      end

      # Closes the connection at once, without a close frame, and drops queued messages. {#close_code} is 1006 then.
      #
      # @return [nil]
      def abort = give_up("this side has aborted the connection")

      # Calls the block with each message, and with those that have come before. The socket lives until it is closed.
      #
      # @yieldparam message [String]
      # @return [self]
      # @raise [NotRunningError] where no reactor runs on this thread
      def on_message(&block)
        Reactor.require_running("WebSocket#on_message")
        @on_message = block
        Pelton.next_tick { deliver } if @incoming.any?
        self
      end

      # Calls the block once, when either side closes the socket.
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

      # Gives up a peer that has sent nothing, not even an answer to the last ping, and sends the next one.
      #
      # @param silent [Boolean] whether only a peer that has sent nothing since the last call gets one
      # @private
      def check_peer(silent: false)
        active = @active != false || @delivering || @stream.paused? # or this side is not reading now
        if @pinged && !active
          return give_up("the peer sent nothing#{" for #{@ping} s" if @ping}, not even an answer to a ping")
        end
        @active = false
        @pinged = !(silent && active)
        send_frame(WebSocketFrames::PING, "") if @pinged && open?
      end

      # Whether on_message is set.
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

        # (see WebSocket#receive)
        def receive(timeout: nil) = Deferrable.defer(nil) { @socket.receive(timeout: timeout) }

        # (see WebSocketOutput#write)
        def write(message, timeout: nil) = @socket.write_later(message, timeout: timeout)
      end

      private

      # Reads what the peer sent. Several fibers may be in here, but never at once.
      def feed(bytes)
        @active = true
        at = 0
        until @closed || at == bytes.bytesize
          began = Clock.now
          slice = bytes.byteslice(at, [SLICE, @frames.missing].max)
          at += slice.bytesize
          @frames << slice
          nil while !@closed && step
          Reactor.current.yield if at < bytes.bytesize && Clock.now - began > BUDGET && Pelton.running?
        end
      end

      # Handles the next message or control frame. Messages are delivered before the frames after them are looked at,
      # so they can be answered even if the next frame ends the socket.
      #
      # @return [Boolean] false: more bytes are needed
      def step
        opcode, payload = @frames.next
        case opcode
        when WebSocketFrames::TEXT, WebSocketFrames::BINARY
          keep(payload)
          deliver
        when WebSocketFrames::PING then send_frame(WebSocketFrames::PONG, payload) if open?
        when WebSocketFrames::PONG then @pings&.delete(payload)&.call
        when WebSocketFrames::CLOSE then closed_by_peer(*WebSocketFrames.close_facts(payload))
        end
        !!opcode
      rescue WebSocketFrames::Fault => fault
        @refused = true
        closed_by_peer(fault.code, fault.message)
      end

      def closed_by_peer(code, reason)
        let_receivers_answer
        return if @closed
        put_close(code, reason) unless @closing
        finish(code, reason)
      end

      # Receivers that a message has woken have not run yet. A receiver in callback style runs two jobs later.
      def let_receivers_answer
        2.times { Reactor.current.yield } if @woken && Pelton.running?
        @woken = false
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

      def deliver
        return if @delivering
        @delivering = true
        while @incoming.any?
          if @on_message
            call(@on_message, take)
          else
            waiting = @waiting.shift || break
            waiting.succeed(take) if waiting.state == :pending
            @woken = true
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
        message = operation.await(timeout: timeout)
        received = true
        message
      ensure # a wait that ends early takes no message with it
        if operation && !received && !@waiting.delete(operation) && operation.state == :succeeded
          put_back(operation.result)
        end
      end

      def put_back(message)
        return unless message # the socket is closed
        @incoming.unshift(message)
        @incoming_bytes += message.bytesize
        Pelton.next_tick { deliver }
      end

      # Where no reactor runs.
      def pull(timeout)
        until @closed || @incoming.any?
          @frames << @stream.readpartial(65_536, timeout: timeout) unless step
        end
        take if @incoming.any?
      rescue EOFError, ConnectionError
        lost
      end

      def close_blocking(code, reason)
        put_close(code, reason)
        @closing = true
        until @closed
          @frames << @stream.readpartial(65_536, timeout: CLOSE_TIMEOUT) unless step
        end
      rescue EOFError, ConnectionError, TimeoutError
        lost
      ensure
        @stream.close
      end

      # The connection ended.
      def lost
        finish(1006, "the connection ended without a close frame")
        nil
      end

      def finish(code, reason)
        return if @closed
        @closed = true
        @close_code = code
        @close_reason = reason
        @attachment&.detach
        @registries.dup.each { |registry| registry.delete(self) }
        [@pinging, @closing, @stalling].grep(Timer).each(&:cancel)
        (@refused && Pelton.running? && !@stream.closed?) ? linger : @stream.close
        call(@on_close, code, reason) if @on_close
        deliver unless @delivering
      end

      # Reads and drops further bytes for a while: closing with unread bytes would reset the connection, and the peer
      # might not get the close frame.
      def linger
        @stream.close_write
        @stream.resume if @stream.paused?
        @closing = Pelton.add_timer(LINGER) { @stream.abort }
      rescue ConnectionError
        @stream.abort # the peer has left
      end

      def give_up(reason)
        finish(1006, reason)
        @stream.abort
      end
    end
  end
end
