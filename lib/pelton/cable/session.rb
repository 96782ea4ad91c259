# frozen_string_literal: true

module Pelton
  module Cable
    # A socket that speaks the protocol: executes the client's commands, one after the other. While one waits, only this
    # socket waits.
    # @private
    class Session
      include Opaque

      # Refused commands after which a client is cut off.
      MOST_REFUSED = 100
      # Errors of the application, in a client's commands, after which its connection is closed.
      MOST_FAILED = 100
      # Levels of JSON within each other.
      NESTING = 20
      # Of a close frame: the client did what it may not do.
      VIOLATION = 1008
      # Seconds for a client whose session is restored to ask for its history, while live messages are held back.
      HOLD = 2
      # Of a close frame: the server has failed, and the client comes back.
      FAILED = 1011
      private_constant :MOST_REFUSED, :MOST_FAILED, :NESTING, :VIOLATION, :FAILED, :HOLD

      # @return [Server]
      attr_reader :server

      # @return [HTTP::WebSocket]
      attr_reader :socket

      # @return [Subscriptions]
      attr_reader :subscriptions

      # @return [Connection]
      def connection = @subscriptions.connection

      # @return [Integer] subscriptions
      def size = @subscriptions.size

      def initialize(server, socket)
        @server = server
        @socket = socket
        @refused = @failed = 0
        @held = {}
      end

      # Lets the client in, or not. The socket lives on when it returns.
      #
      # @yieldparam session [Session]
      # @yieldreturn [Subscriptions] or what has the same methods
      # @asynchronous if its `open` is
      def start
        @subscriptions = yield self
        return listen if @subscriptions.open
        @socket.close
      end

      # Whether the client speaks the extended protocol.
      def extended? = @socket.protocol == EXTENDED

      # Never waits.
      def transmit(text)
        @server.too_slow(@socket) if @socket.push(HTTP::WebSocketMessage.new(text), @server.limits[:output]) == false
        nil
      end

      # @param type [String] of an answer about a subscription
      # @param json [String, nil] its message
      def answer(identifier, type, json = nil)
        transmit(%({"identifier":#{JSON.generate(identifier)},"type":"#{type}"#{%(,"message":#{json}) if json}}))
      end

      # Sends a message of a stream, with its position if the client's protocol has one.
      def transmit_kept(identifier, json, stream, position)
        transmit(Audience.new(identifier, extended?).encode(json, stream, position))
      end

      # Sends a text to the client: from its position, once it has told one, or has had the time to.
      #
      # @param identifier [String] of a subscription
      # @return [Follower] see {Follower#initialize}
      def follow(identifier, stream, after, &message)
        follower = Follower.new(self, identifier, stream, after, &message)
        holding?(identifier) ? follower : follower.start
      end

      # A history, or one message of it, may be more than may wait for a client: it is sent as fast as the client takes
      # it.
      def make_room
        @socket.flush if @socket.pending > @server.limits[:output] / 2
      rescue ClosedError, ConnectionError
        nil # the session's end follows
      end

      # Whether the client is about to get the history of a subscription, before which it gets no live message that is
      # kept.
      def holding?(identifier) = @held.key?(identifier)

      # A client that comes back to these subscriptions asks for what it has missed now. If one does not, and live
      # messages wait, it has to come back without its session: their positions would hide what it has missed.
      #
      # @param identifiers [Array<String>]
      def hold(identifiers)
        identifiers.each { |identifier| @held[identifier] = true }
        @late = {}
        Pelton.add_timer(HOLD) { @held.keys.each { |identifier| expire(identifier) } }
      end

      # Tells the client that the connection ends, and whether the client should reconnect.
      def disconnect(reason, reconnect, code: 1000, text: "")
        return unless @socket.open?
        @subscriptions&.forget
        transmit(JSON.generate({type: "disconnect", reason: reason, reconnect: reconnect}))
        @socket.close(code, text)
      end

      # The server stops.
      def close(code, text) = disconnect("server_restart", true, code: code, text: text)

      # Calls the application's code, within its time limit: its error is reported, and has no effect on others.
      #
      # @return [:done, :refused, :failed]
      def protect(&block)
        @server.within_time(&block)
        :done
      rescue Refused => error
        refuse(error.message)
        :refused
      rescue => error
        @server.failed(error)
        failed
        :failed
      end

      # The application has failed in a command: a client that provokes this again and again has to connect again.
      def failed
        return unless (@failed += 1) == MOST_FAILED
        disconnect("too_many_errors", true, code: FAILED, text: "too many errors")
      end

      # @return [Hash]
      # @raise [Refused]
      def parse(text, what, **options)
        raise Refused, "#{what} is no text" unless text.is_a?(String) && text.encoding == Encoding::UTF_8
        parsed = JSON.parse(text, max_nesting: NESTING, **options)
        parsed.is_a?(Hash) ? parsed : raise(Refused, "#{what} is no object")
      rescue JSON::ParserError
        raise Refused, "#{what} is no JSON, or has more than #{NESTING} levels"
      end

      private

      # The blocks capture the session only, so that sockets do not retain their requests.
      def listen
        @server.opened(self)
        @attachment = @socket.hand_over(self)
        @socket.on_close do
          @closed = true
          Pelton.spawn(name: "the end of a cable", detached: true) { stop } unless @busy
        end
        @socket.on_message { |text| execute(text) }
      end

      # The socket may be closed while a command waits: then the end comes after the command.
      def execute(text)
        return if @closed || @refused == MOST_REFUSED
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
        when "subscribe" then subscribe(identifier, command)
        when "history" then replay(subscribed(identifier), command.fetch("history", {"streams" => {}}))
        when "presence" then tell_presence(subscribed(identifier))
        when "unsubscribe" then subscribed(identifier) && @subscriptions.unsubscribe(command)
        when "message" then subscribed(identifier) && @subscriptions.perform(command)
        else raise Refused, "there is no command #{command["command"].inspect[0, 100]}"
        end
      rescue Refused => error
        refuse(error.message)
      end

      # Each refusal is an answer, as the client waits for one.
      def subscribe(identifier, command)
        return if @subscriptions.include?(identifier)
        limits = @server.limits
        if identifier.bytesize > limits[:identifier]
          raise Refused, "the identifier has #{identifier.bytesize} bytes: #{limits[:identifier]} are the most"
        end
        raise Refused, "#{size} subscriptions are the most" if size >= limits[:subscriptions]
        since = Position.of_page(identifier) unless command["history"]
        @held[identifier] = true if (extended? && command["history"]) || since
        case @subscriptions.subscribe(command)
        when true
          replay(identifier, command["history"]) if command["history"]
          catch_up(identifier, since) if since
        when :failed then again(identifier, command["retry"] == true)
        end
      rescue Refused
        answer(identifier, "reject_subscription") unless @subscriptions.include?(identifier)
        raise
      ensure
        @held.delete(identifier) unless @subscriptions.include?(identifier)
      end

      # An error is no rejection, after which a client would not ask again: a busy database is free a moment later. A
      # client that has said that it knows this answer subscribes again after a while; another one connects again.
      def again(identifier, known)
        return answer(identifier, "retry_subscription") if known
        disconnect("subscription_failed", true, code: FAILED, text: "a subscription failed")
      end

      def subscribed(identifier)
        @subscriptions.include?(identifier) ? identifier : raise(Refused, "there is no such subscription")
      end

      # Sends what the streams of a subscription have kept since the client's positions, or, for a stream of which the
      # client has none, since a time in seconds of UNIX. Without either the stream begins now.
      def replay(identifier, history)
        raise Refused, "the history is not one of the extended protocol" unless extended? && history.is_a?(Hash)
        positions, time = history.values_at("streams", "since")
        unless positions.is_a?(Hash) || time.is_a?(Integer)
          raise Refused, "the history has neither positions nor a time"
        end
        late = @late&.delete(identifier) # see hold
        lasts = send_history(identifier, positions, time) { |found| !(late && found.any?) }
        answer(identifier, "#{lasts ? "confirm" : "reject"}_history")
      ensure
        release(identifier, lasts || {}, positions)
      end

      # What has come since a page was rendered, at its first subscription. A client of the extended protocol is told if
      # that is not kept any more.
      def catch_up(identifier, positions)
        lasts = send_history(identifier, positions, nil)
        answer(identifier, "reject_history") if lasts.nil? && extended?
      ensure
        release(identifier, lasts || {}, positions)
      end

      # @yieldreturn [Boolean] whether what was found may be sent
      # @return [Hash{String => String, nil}, nil] positions up to which the history was sent, by stream; nil: messages
      #   are missing, and none was sent
      def send_history(identifier, positions, time)
        found = @subscriptions.streams(identifier).filter_map do |stream|
          kept(stream, positions.is_a?(Hash) && positions[stream], time)
        end
        return unless found.all?(&:last)
        return if block_given? && !yield(found)
        found.each do |stream, messages, _|
          messages.each do |json, position|
            make_room
            transmit_kept(identifier, json, stream, position)
          end
        end
        make_room # for the answer, and for live messages
        found.to_h { |stream, messages, _| [stream, messages.last&.last] }
      end

      def expire(identifier)
        return unless @subscriptions.include?(identifier)
        if @server.streams.waiting?(self, identifier, @subscriptions.streams(identifier))
          return disconnect("restore_failed", true)
        end
        @late[identifier] = true if release(identifier)
      end

      # @param lasts [Hash{String => String, nil}] positions up to which the history was sent, by stream
      # @param positions [Object] what the client has sent as its positions, by stream
      # @return [Boolean] whether live messages were held back
      def release(identifier, lasts = {}, positions = nil)
        return false unless @held.delete(identifier) && @subscriptions.include?(identifier)
        positions = {} unless positions.is_a?(Hash)
        @subscriptions.followers(identifier).each { |follower| follower.start(positions[follower.name]) }
        @server.streams.release(self, identifier, @subscriptions.streams(identifier), lasts)
        true
      end

      # @return [Array(String, Array, Boolean), nil] the stream, its messages, and whether none is missing
      def kept(stream, position, time)
        if position.is_a?(Hash)
          [stream, *@server.pubsub.since(stream, position.values_at("epoch", "offset").join(":"))]
        elsif time.is_a?(Integer)
          [stream, *@server.pubsub.recent(stream, [Time.now.to_i - time, 0].max)]
        end
      end

      # Who is present, for a client of the extended protocol. Its commands join and leave are unknown: the channel says
      # who is present.
      def tell_presence(identifier)
        raise Refused, "presence is a part of the extended protocol" unless extended?
        members = @subscriptions.presence(identifier)
        told = if members
          {type: "info", total: members.size, records: members.map { |id, info| {id: id, info: info} }}
        else
          {type: "error"}
        end
        answer(identifier, "presence", JSON.generate(told))
      end

      def refuse(reason)
        @server.refuse(:refused, "refuses a command: #{reason}")
        return unless (@refused += 1) == MOST_REFUSED
        disconnect("too_many_refused_commands", false, code: VIOLATION, text: "too many refused commands")
      end

      def stop
        return if @stopped
        @stopped = true
        @subscriptions.stop
      ensure
        @server.closed(self)
        @attachment&.detach
      end
    end
  end
end
