# frozen_string_literal: true

require_relative "../../pubsub"

module Pelton
  module HTTP
    class WebSocket
      # A set of sockets that get the same messages: the members of a chat, the readers of a ticker.
      #
      # {#broadcast} encodes and compresses a message once, queues it for each member, and does not wait. A member
      # that does not read as fast as messages come has a growing queue; once that is longer than the limit, the policy
      # decides. A socket leaves the room when it is closed. If messages of its topic are lost on the way, members are
      # closed with 1013, too, unless they may miss messages (`slow: :drop`). Members may join and leave at any time,
      # also while a broadcast or {#each} goes on.
      #
      # A room belongs to the thread of its sockets. A room with a topic gets what {PubSub} publishes on it.
      #
      # @example
      #   ROOM = Pelton::HTTP::WebSocket::Room.new("chat")
      #   run ->(env) do
      #     Pelton::HTTP::WebSocket.accept(env) do |socket|
      #       ROOM.add(socket)
      #       socket.each { |message| ROOM.publish(message) }
      #     end
      #   end
      class Room
        include Enumerable

        # Bytes that may be queued for a member before a further message counts as one too many.
        MAX_BYTES = 1 << 20
        # Of the close frame that a slow member gets: try again later.
        SLOW = 1013
        private_constant :SLOW

        # @param topic [String, nil] of {PubSub.default}, or of `pubsub`: the room is subscribed to it while it has
        #   members
        # @param pubsub [PubSub, nil]
        # @param max_bytes [Integer] bytes queued for a member, beyond which it is slow. So at most the limit and one
        #   message are queued
        # @param slow [:close, :drop, #call] for a message to a slow member. `:close`: it leaves the room, and is closed
        #   with code
        #   1013. `:drop`: it stays, without this message. A block: is called with the socket and the message, once the
        #         others have it
        # @yieldparam socket [WebSocket] the block may be given instead of `slow:`
        # @yieldparam message [String]
        # @raise [ArgumentError] another policy
        def initialize(topic = nil, pubsub: nil, max_bytes: MAX_BYTES, slow: :close, &block)
          @topic = topic
          @pubsub = pubsub
          @max_bytes = max_bytes
          @slow = block || slow
          unless %i[close drop].include?(@slow) || @slow.respond_to?(:call)
            raise ArgumentError, "slow: must be :close, :drop or callable, not #{slow.inspect}"
          end
          @members = {}.compare_by_identity
          @state = Object.new # another one after each change of the members
          @broadcasts = @sent = @dropped = 0
        end

        # Adds a socket, unless it is closed.
        #
        # @param socket [WebSocket]
        # @return [self]
        def add(socket)
          return self if socket.closed? || @members.key?(socket)
          @subscription ||= pubsub.attach(@topic, gap: -> { lost }) { |message| broadcast(message) } if @topic
          socket.enter(self)
          @members[socket] = true
          @state = Object.new
          self
        end
        alias_method :<<, :add

        # Removes a socket, which stays open.
        #
        # @param socket [WebSocket]
        # @return [WebSocket, nil] nil: it was no member
        def delete(socket)
          return unless @members.delete(socket)
          socket.leave(self)
          @subscription = @subscription&.close if @members.empty?
          @state = Object.new
          socket
        end

        # Yields each member. Sockets that join meanwhile are not yielded; those that leave may be.
        #
        # @yieldparam socket [WebSocket]
        # @return [self, Enumerator]
        def each(&block)
          return enum_for(:each) unless block
          list.each(&block)
          self
        end

        # @return [Integer] members
        def size = @members.size

        # @return [Boolean]
        def empty? = @members.empty?

        # @return [Boolean]
        def include?(socket) = @members.key?(socket)

        # Publishes a message on the room's topic: it goes to the members of all rooms with this topic, in all workers.
        #
        # @param message [String] see {#broadcast}
        # @return [nil]
        # @raise [ArgumentError, TypeError] as {#broadcast}
        # @raise [Error] the room has no topic
        def publish(message)
          unless @topic
            raise Error, "the room has no topic to publish on: broadcast the message, or give the room a topic"
          end
          pubsub.publish(@topic, message)
        end

        # Queues a message for each member of this room, and returns at once. All members get a room's messages in the
        # same order.
        #
        # @param message [String] a binary String is sent as binary, any other as text
        # @param except [WebSocket, nil] a member that does not get it, such as the sender
        # @return [Integer] the members for whom it was queued
        # @raise [ArgumentError] the text is invalid in its encoding
        # @raise [TypeError] it is not a String
        # @raise [NotRunningError] no reactor runs
        # @asynchronous if the block of the policy is; otherwise it never waits
        def broadcast(message, except: nil)
          Reactor.require_running("Room#broadcast")
          encoded = WebSocketMessage.new(message)
          count = 0
          slow = []
          list.each do |socket|
            next if socket.equal?(except)
            queued = socket.push(encoded, @max_bytes)
            queued ? count += 1 : (slow << socket if queued == false)
          end
          @broadcasts += 1
          @sent += count
          @dropped += slow.size
          slow.each { |socket| decide(socket, message) }
          count
        end

        # @return [Hash{Symbol => Integer}] `members` now; counters: `broadcasts`, messages `sent` to a member, and
        #   messages `dropped` because a member was slow
        def stats = {members: size, broadcasts: @broadcasts, sent: @sent, dropped: @dropped}

        def inspect = "#<#{self.class.name} #{size} members>"

        private

        def pubsub = @pubsub || PubSub.default

        # A list of its own for those who iterate: the next change makes a new one.
        # Kept with the state that it belongs to: a trap handler may wait while the list is made, and members come and
        # go meanwhile.
        def list
          of, list = @list
          return list if @state.equal?(of)
          of = @state
          list = @members.keys.freeze
          @list = [of, list]
          list
        end

        # Messages of the topic are lost. Who comes back may load what it has missed.
        def lost
          @dropped += size
          list.each { |socket| delete(socket)&.close(SLOW, "messages are lost") } unless @slow == :drop
        end

        def decide(socket, message)
          case @slow
          when :close
            delete(socket)
            socket.close(SLOW, "too slow")
          when :drop then nil
          else @slow.call(socket, message)
          end
        rescue => error # the others' turn comes all the same
          Pelton.report_error(error)
        end
      end
    end
  end
end
