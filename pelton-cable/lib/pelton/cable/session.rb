# frozen_string_literal: true

module Pelton
  module Cable
    # A socket that speaks the protocol: executes the client's commands, one after the other. While one waits, only this socket waits.
    # @private
    class Session
      include Opaque

      # Refused commands after which a client is cut off.
      MOST_REFUSED = 100
      # Levels of JSON within each other.
      NESTING = 20
      # Of a close frame: the client did what it may not do.
      VIOLATION = 1008
      private_constant :MOST_REFUSED, :NESTING, :VIOLATION

      # @return [Server]
      attr_reader :server

      # @return [HTTP::WebSocket]
      attr_reader :socket

      # @return [Connection]
      attr_reader :connection

      # @return [Integer] subscriptions
      def size = @channels.size

      def initialize(server, socket)
        @server = server
        @socket = socket
        @channels = {}
        @refused = 0
      end

      # Lets the client in, or not. The socket lives on when it returns.
      #
      # @asynchronous if {Connection#connect} is
      def start(connection_class, env)
        @connection = connection_class.new(self, env)
        @connection._connect
        return unless @socket.open?
        transmit(%({"type":"welcome"}))
        @server.opened(self)
        @socket.on_close do
          @closed = true
          Pelton.spawn(name: "the end of a cable", detached: true) { stop } unless @busy
        end
        @socket.on_message { |text| execute(text) }
      rescue Connection::Unauthorized
        @server.count(:unauthorized)
        close("unauthorized", false)
      end

      # Whether the client speaks the extended protocol.
      def extended? = @socket.protocol == EXTENDED

      # Never waits.
      def transmit(text)
        @server.too_slow(@socket) if @socket.push(HTTP::WebSocketMessage.new(text), @server.limits[:output]) == false
        nil
      end

      def close(reason, reconnect)
        transmit(JSON.generate({type: "disconnect", reason: reason, reconnect: reconnect}))
        @socket.close
      end

      # Calls the application's code: its error is reported, and concerns nobody else.
      #
      # @return [Boolean] whether there was none
      def protect
        yield
        true
      rescue Refused => error
        refuse(error.message)
        false
      rescue => error
        @server.count(:errors)
        Pelton.report_error(error, "a channel")
        false
      end

      private

      # The socket may be closed while a command waits: then the end comes after the command.
      def execute(text)
        return if @closed
        @busy = true
        receive(text)
      ensure
        @busy = false
        stop if @closed
      end

      def receive(text)
        @server.count(:commands)
        command = parse(text, "the command")
        return if extended? && command["command"] == "pong" # that it has come is enough
        identifier = command["identifier"]
        raise Refused, "the identifier is no text" unless identifier.is_a?(String)
        case command["command"]
        when "subscribe" then subscribe(identifier) && command["history"] && replay(identifier, command["history"])
        when "history" then replay(identifier, command["history"])
        when "unsubscribe" then unsubscribe(identifier)
        when "message" then perform(identifier, command["data"])
        else raise Refused, "there is no command #{command["command"].inspect[0, 100]}"
        end
      rescue Refused => error
        refuse(error.message)
      end

      # @return [Hash]
      def parse(text, what, **options)
        raise Refused, "#{what} is no text" unless text.is_a?(String) && text.encoding == Encoding::UTF_8
        parsed = JSON.parse(text, max_nesting: NESTING, **options)
        parsed.is_a?(Hash) ? parsed : raise(Refused, "#{what} is no object")
      rescue JSON::ParserError
        raise Refused, "#{what} is no JSON, or has more than #{NESTING} levels"
      end

      # Each refusal is an answer, as the client waits for one.
      def subscribe(identifier)
        return if @channels.key?(identifier)
        return true if let_in(identifier)
        transmit(%({"identifier":#{JSON.generate(identifier)},"type":"reject_subscription"}))
      rescue Refused
        transmit(%({"identifier":#{JSON.generate(identifier)},"type":"reject_subscription"}))
        raise
      end

      def let_in(identifier)
        limits = @server.limits
        raise Refused, "the identifier has #{identifier.bytesize} bytes: #{limits[:identifier]} are the most" if identifier.bytesize > limits[:identifier]
        raise Refused, "#{@channels.size} subscriptions are the most" if @channels.size >= limits[:subscriptions]
        params = parse(identifier, "the identifier", symbolize_names: true)
        channel = @server.channel_class(params[:channel]).new(self, @connection, identifier.freeze, params)
        @channels[identifier] = channel
        accepted = nil
        unless protect { accepted = channel._subscribe } && accepted
          @channels.delete(identifier)
          channel.stop_all_streams
          @server.count(:rejected)
          return
        end
        transmit(%({"identifier":#{JSON.generate(identifier)},"type":"confirm_subscription"}))
        true
      end

      # Sends what the streams of a subscription have kept since the client's positions. A stream of which the client knows none begins now.
      def replay(identifier, history)
        channel = @channels[identifier] or raise Refused, "there is no such subscription"
        positions = history.is_a?(Hash) ? history["streams"] : nil
        raise Refused, "the history has no positions" unless extended? && positions.is_a?(Hash)
        known = channel._streams.select { |stream| positions[stream].is_a?(Hash) }
        found = known.map { |stream| [stream, *@server.pubsub._since(stream, positions[stream].values_at("epoch", "offset").join(":"))] }
        complete = found.all?(&:last)
        found.each { |stream, messages, _| messages.each { |json, position| transmit(Streams.extended(identifier, json, stream, position)) } } if complete
        transmit(%({"identifier":#{JSON.generate(identifier)},"type":"#{complete ? "confirm" : "reject"}_history"}))
      end

      def unsubscribe(identifier)
        channel = @channels.delete(identifier) or raise Refused, "there is no such subscription"
        protect { channel._unsubscribe }
      end

      def perform(identifier, data)
        channel = @channels[identifier] or raise Refused, "there is no such subscription"
        data = parse(data, "the data")
        protect { channel._perform(data) }
      end

      def refuse(reason)
        @server.refused(reason)
        return unless (@refused += 1) == MOST_REFUSED
        transmit(%({"type":"disconnect","reason":"too_many_refused_commands","reconnect":false}))
        @socket.close(VIOLATION, "too many refused commands")
      end

      def stop
        return if @stopped
        @stopped = true
        @channels.each_value { |channel| protect { channel._unsubscribe } }
        @channels = {}
        @server.closed(self)
        protect { @connection.disconnect }
      end
    end
  end
end
