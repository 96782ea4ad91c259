# frozen_string_literal: true

require_relative "audience"

module Pelton
  module Cable
    # Who gets what is broadcast on a stream. A stream is subscribed to its topic once, and has a room for each
    # identifier and protocol: the sockets of a room share one frame, which is encoded and compressed once.
    # @private
    class Streams
      # How the names of topics begin that are no stream of the application: those of {Presence}, {Recovery} and
      # {Disconnects}.
      INTERNAL = "pelton-"
      # Rooms by {Audience}, and {Hold}s by identifier and socket.
      Stream = Struct.new(:rooms, :holds, :subscription)
      private_constant :Stream

      # @return [Integer] messages that sockets were sent
      attr_reader :sent

      # @param observer [#call, nil] gets the stream, the identifier, the message and the number of sockets for which it
      #   was queued
      attr_writer :observer

      # @param limit [Integer] bytes that may wait for a socket
      # @param gap [#call] gets the sockets for which messages are lost
      # @yieldparam socket [HTTP::WebSocket] for which more waits
      def initialize(pubsub, limit:, gap:, &slow)
        @pubsub = pubsub
        @limit = limit
        @gap = gap
        @slow = slow
        @streams = {}
        @sent = 0
      end

      # @return [Integer] streams
      def size = @streams.size

      # @param session [Session]
      # @param block [#call, nil] gets the decoded messages instead of the socket
      # @return [Proc] ends it
      # @raise [Refused] the name is internal
      def add(name, channel, session, block)
        if name.start_with?(INTERNAL)
          raise Refused,
            "the stream #{name.inspect[0, 100]} is internal: names that begin with #{INTERNAL} are Pelton's"
        end
        return filter(name, session, block) if block
        identifier = channel.identifier
        stream = @streams[name] || start(name)
        session.holding?(identifier) ? hold(name, stream, session, identifier) : enter(stream, session, identifier)
        -> { remove(name, stream, session, identifier) }
      end

      # Whether live messages of a subscription are held back.
      #
      # @param names [Array<String>] of its streams
      def waiting?(session, identifier, names)
        @streams.values_at(*names).any? { |stream| stream&.holds&.[]([identifier, session.socket])&.waiting? }
      end

      # The history of a subscription was sent: see {Hold#release}.
      #
      # @param names [Array<String>] of its streams
      # @param lasts [Hash{String => String}] positions by stream
      def release(session, identifier, names, lasts)
        @streams.values_at(*names).zip(names) do |stream, name|
          hold = stream&.holds&.[]([identifier, session.socket]) or next
          hold.release(lasts[name])
          settle(stream)
        end
      end

      private

      def audience(session, identifier) = Audience.new(identifier, session.extended?)

      def enter(stream, session, identifier)
        room = (stream.rooms[audience(session, identifier)] ||= HTTP::WebSocket::Room.new(max_bytes: @limit, &@slow))
        room.add(session.socket)
      end

      def hold(name, stream, session, identifier)
        stream.holds[[identifier, session.socket]] = Hold.new(session, identifier, limit: @limit) do |json, position|
          session.transmit_kept(identifier, json, name, position)
          sent_to(name, identifier, json, 1)
        end
      end

      def sent_to(name, identifier, json, count)
        @sent += count
        @observer&.call(name, identifier, json, count)
      end

      # Those whose history was sent join the others, once no message waits that is perhaps a part of it.
      def settle(stream)
        return if stream.subscription&.size&.positive?
        stream.holds.select { |_, hold| hold.released? }.each do |place, hold|
          stream.holds.delete(place)
          enter(stream, hold.session, hold.identifier)
        end
      end

      # The topic's server may let it wait. Others who come meanwhile share the stream.
      def start(name)
        @streams[name] = stream = Stream.new({}, {})
        lost = -> do
          @gap.call(stream.rooms.values.flat_map(&:to_a) + stream.holds.values.map { |hold| hold.session.socket })
        end
        stream.subscription = @pubsub.attach(name, gap: lost) do |json, position|
          stream.rooms.each do |audience, room|
            count = room.broadcast(audience.encode(json, name, position))
            sent_to(name, audience.identifier, json, count)
          end
          next if stream.holds.empty?
          stream.holds.each_value { |hold| hold.push(json, position) }
          settle(stream)
        end
        stream
      rescue
        @streams.delete(name)
        raise
      end

      def remove(name, stream, session, identifier)
        stream.holds.delete([identifier, session.socket])
        audience = audience(session, identifier)
        room = stream.rooms[audience]
        room&.delete(session.socket)
        stream.rooms.delete(audience) if room && room.empty?
        return unless stream.rooms.empty? && stream.holds.empty? && stream.subscription && @streams[name].equal?(stream)
        stream.subscription.close
        @streams.delete(name)
      end

      def filter(name, session, block)
        lost = -> { @gap.call([session.socket]) }
        subscription = @pubsub.attach(name, direct: false, gap: lost, max_bytes: @limit) do |json|
          session.protect { block.call(JSON.parse(json)) }
        end
        subscription.method(:close).to_proc
      end
    end
  end
end
