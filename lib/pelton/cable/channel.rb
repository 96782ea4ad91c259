# frozen_string_literal: true

module Pelton
  module Cable
    # What a client subscribes to, from which an application derives its own. The public methods of a derived class are
    # the actions that a client may perform. All calls for one client come one after the other; each may wait.
    #
    # @example
    #   class RoomChannel < Pelton::Cable::Channel
    #     def subscribed
    #       room = Room[params[:id]]
    #       connection.user.reads?(room) ? stream_for(room) : reject
    #     end
    #
    #     def speak(data)
    #       RoomChannel.broadcast_to(params[:id], text: data["text"])
    #     end
    #   end
    class Channel
      include Opaque

      class << self
        # Sends a message to all who stream for a model: {Cable.broadcast} on {stream_name}.
        #
        # @param model [#to_param, #to_s]
        # @param message [Object] that JSON can express
        # @return [nil]
        def broadcast_to(model, message) = Cable.broadcast(stream_name(model), message)

        # Where the stream for a model is now: see {Cable.position}.
        #
        # @param model [#to_param, #to_s]
        # @return [String] JSON
        def position_of(model) = Cable.position(stream_name(model))

        # @param model [#to_gid_param, #to_param, #to_s]
        # @return [String] of the stream for a model in this channel
        def stream_name(model)
          named = %i[to_gid_param to_param].find { |name| model.respond_to?(name) }
          "#{name}:#{model.public_send(named || :to_s)}"
        end

        # @return [Hash{String => Symbol}] what a client may perform
        # @private
        def actions
          @actions ||=
            public_instance_methods.reject do |name|
              Channel.method_defined?(name) && (name != :receive || instance_method(name).owner == Channel)
            end.to_h { |name| [name.name, name] }
        end

        private

        def method_added(_name)
          @actions = nil
          super
        end
      end

      # @return [Connection]
      attr_reader :connection

      # @return [String] with which the client has subscribed: JSON
      attr_reader :identifier

      # @return [Hash{Symbol => Object}] what the client has subscribed with, its channel's name among it
      attr_reader :params

      # @private
      def initialize(session, connection, identifier, params)
        @session = session
        @connection = connection
        @identifier = identifier
        @params = params
        @streams = {}
      end

      # Called when the client subscribes. An override streams from something, or calls {#reject}.
      def subscribed
      end

      # Called when the client unsubscribes or has gone.
      def unsubscribed
      end

      # Called for a message without an action, where a derived class has overridden it.
      #
      # @param data [Hash{String => Object}]
      def receive(data)
      end

      # Refuses the subscription, inside {#subscribed}.
      #
      # @return [nil]
      def reject
        @rejected = true
        nil
      end

      # Sends to the client what is broadcast on a stream from now on.
      #
      # Without a block the message is encoded once for all subscribers with the same identifier. A block gets each
      # message, decoded, one after the other; it may wait, and {#transmit}.
      #
      # @param stream [String]
      # @yieldparam message [Object]
      # @return [nil]
      def stream_from(stream, &block)
        stop_stream_from(stream)
        (@filtered ||= []) << stream if block
        @streams[stream] = @session.server.streams.add(stream, self, @session, block)
        nil
      end

      # Sends to the client what {broadcast_to} sends for a model.
      #
      # @param model [#to_param, #to_s]
      # @return [nil]
      def stream_for(model, &block) = stream_from(self.class.stream_name(model), &block)

      # @param stream [String]
      # @return [nil]
      def stop_stream_from(stream)
        @streams.delete(stream)&.call
        @filtered&.delete(stream)
        nil
      end

      # Sends to the client a text that a job writes ({ResumableStream}), until it is finished or cancelled, from its
      # beginning or from where the client was: after a broken line it goes on without a gap.
      #
      # Without a block the messages are `{"event" => "append", "text" => "..."}`; "update" in place of "append" if the
      # text takes the place of what the client has; and `{"event" => "finished"}`, "running", "failed" (with the class
      # of the error as "error"), "cancelled" or "interrupted". See {ResumableStream::Event}.
      #
      # @param stream [ResumableStream]
      # @param after [String, nil] the position of the text that the page has: {ResumableStream::Snapshot#position}.
      #   Clients of the plain protocol, which do not know where they were, get the text from its beginning
      # @yieldparam event [ResumableStream::Event]. The block must not wait
      # @yieldreturn [Object, nil] the message, that JSON can express; nil: none
      # @return [nil]
      def follow_stream(stream, after: nil, &message)
        unfollow_stream(stream)
        (@followers ||= {})[stream.name] = @session.follow(@identifier, stream, after, &message)
        nil
      end

      # @param stream [ResumableStream]
      # @return [nil]
      def unfollow_stream(stream)
        @followers&.delete(stream.name)&.stop
        nil
      end

      # Also of texts.
      #
      # @return [nil]
      def stop_all_streams
        @streams.keys.each { |stream| stop_stream_from(stream) }
        _followers.each(&:stop)
        @followers = nil
      end

      # Tells the client who comes and goes on a stream, in all processes, and makes the client present there itself, if
      # it has an id, until it unsubscribes or is gone. Somebody with several sockets is present once. The members of a
      # process that was killed leave within 7 seconds.
      #
      # Without a block a client of the extended protocol gets its presence messages, and another one
      # `{"presence" => event}`.
      #
      # @param stream [String]
      # @param id [#to_s, nil] at most 255 bytes; nil: the client only watches
      # @param info [Object] about the client, that JSON can express in 4,096 bytes
      # @yieldparam event [Hash{String => Object}] "type" is "join" or "leave", "id", and "info" of a join. The block
      #   must not wait
      # @return [nil]
      def track_presence(stream, id: nil, info: nil, &block)
        leave_presence(stream)
        block ||= ->(event) { tell_presence(event) }
        (@presences ||= {})[stream] =
          @session.server.presence.track(stream, id, info) { |event| @session.protect { block.call(event) } }
        nil
      end

      # @param stream [String]
      # @return [nil]
      def leave_presence(stream)
        @presences&.delete(stream)&.call
        nil
      end

      # @return [Hash{String => Object}] the information of all who are present on a stream, as far as this process
      #   knows, by their ids. For a stream that is not tracked here it is empty
      def presence_of(stream) = @session.server.presence.members(stream)

      # Sends a message to this client alone. It never waits.
      #
      # @param message [Object] that JSON can express
      # @return [nil]
      def transmit(message) = @session.transmit(Audience.envelope(@identifier, JSON.generate(message)))

      # Sends a message to all who have subscribed to a stream: see {Cable.broadcast}.
      #
      # @return [nil]
      def broadcast(stream, message) = Cable.broadcast(stream, message, pubsub: @session.server.pubsub)

      # @return [Array<String>] whose messages go to the client as they are
      # @private
      def _streams = @streams.keys - (@filtered || [])

      # @return [Array<Follower>]
      # @private
      def _followers = @followers ? @followers.values : []

      # @return [Hash{String => Object}, nil] who is present on the streams that this channel tracks; nil: it tracks
      #   none
      # @private
      def _presence = @presences&.keys&.map { |stream| presence_of(stream) }&.reduce(:merge)

      # @return [Boolean] whether the client was let in
      # @private
      def _subscribe
        subscribed
        _stop if @rejected
        !@rejected
      end

      # @private
      def _stop
        stop_all_streams
        @presences&.keys&.each { |stream| leave_presence(stream) }
      end

      # @private
      def _unsubscribe
        _stop
        unsubscribed unless @rejected
      end

      # @private
      def _perform(data)
        action = data.fetch("action", "receive")
        name = self.class.actions[action] or raise Refused, "#{self.class.name} has no action #{action.inspect[0, 100]}"
        method(name).arity.zero? ? public_send(name) : public_send(name, _data(data))
      end

      private

      def tell_presence(event)
        event = JSON.generate(event)
        if @session.extended?
          @session.answer(@identifier, "presence", event)
        else
          @session.transmit(Audience.envelope(@identifier, %({"presence":#{event}})))
        end
      end

      # What an action gets, of the data that the client has sent.
      def _data(data) = data
    end
  end
end
