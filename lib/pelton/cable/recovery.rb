# frozen_string_literal: true

require "securerandom"

module Pelton
  module Cable
    # What clients of the extended protocol had subscribed to when their connections broke: one that comes back with its
    # session's id is subscribed to it again by the server, if it has the identifiers of then. It is let in and
    # authorized as ever, so an id gives no rights. Each process keeps the sessions that it had, for a while, and is
    # asked by the others.
    # @private
    class Recovery
      # Sessions that are kept, and bytes of their identifiers.
      MOST = 10_000
      MOST_BYTES = 8 << 20
      # Seconds for another process to answer; an unknown session takes as long.
      ANSWER = 0.25
      # Seconds for the end of a connection of which only its client knows that it is broken.
      ENDING = 5
      TOPIC = "pelton-cable-sessions"
      ID = /\A[A-Za-z0-9]{22}\z/
      QUERY = /(?:\A|&)sid=([A-Za-z0-9]{22})(?:&|\z)/
      private_constant :ANSWER, :ENDING, :TOPIC, :ID, :QUERY

      Kept = Struct.new(:identity, :identifiers, :bytes, :until)
      Open = Struct.new(:session, :identity)
      private_constant :Kept, :Open

      # @param env [Hash] Rack's
      # @return [String, nil] the id with which a client comes back
      def self.wanted(env) = env["HTTP_X_ANYCABLE_RESTORE_SID"].to_s[ID] || env["QUERY_STRING"].to_s[QUERY, 1]

      # @param seconds [Numeric] for which sessions are kept
      def initialize(pubsub, seconds:, most: MOST, most_bytes: MOST_BYTES)
        @pubsub = pubsub
        @seconds = seconds
        @most = most
        @most_bytes = most_bytes
        @process = SecureRandom.alphanumeric(12)
        @open = {} # by id
        @kept = {}
        @bytes = 0
        @ending = {} # operations by id: for the end of a session
        @asked = {} # operations by id: for another process's answer
      end

      # @return [Integer] sessions that are kept
      def size = @kept.size

      # @param session [Session]
      # @param identity [String, nil] see {Identity.of}; nil: it cannot be resumed
      # @return [String] its id
      def enter(session, identity)
        listen
        SecureRandom.alphanumeric(22).tap { |id| @open[id] = Open.new(session, identity) }
      end

      # The session must not come back.
      def forget(id) = @open.delete(id)

      # The session has ended.
      #
      # @param identifiers [Array<String>] of its subscriptions
      def leave(id, identifiers)
        open = @open.delete(id)
        keep(id, open.identity, identifiers) if open&.identity
        @ending.delete(id)&.succeed
      end

      # Takes a session, once.
      #
      # @param identity [String] of the client that wants it
      # @return [Array<String>, nil] the identifiers; nil: it is not known, or another client's
      # @asynchronous
      def take(id, identity) = taken(id, identity) || ask(id, identity)

      private

      def listen
        return if @listening && !@listening.closed? # with the run before
        @listening = @pubsub.attach(TOPIC) { |json, _| receive(JSON.parse(json)) }
      end

      def keep(id, identity, identifiers)
        bytes = identity.bytesize + identifiers.sum(&:bytesize)
        @kept[id] = Kept.new(identity, identifiers, bytes, Clock.now + @seconds)
        @bytes += bytes
        drop(@kept.first.first) while @kept.size > @most || @bytes > @most_bytes ||
            @kept.any? && @kept.first.last.until < Clock.now
      end

      def drop(id) = @kept.delete(id)&.tap { |kept| @bytes -= kept.bytes }

      # A client that comes back before the server has noticed that its connection is broken ends that first.
      def taken(id, identity)
        return unless (@open[id] || @kept[id])&.identity == identity
        if (open = @open[id])
          @ending[id] = ended = Operation.new
          open.session.socket.abort
          ended.await(timeout: ENDING)
        end
        kept = drop(id)
        kept.identifiers if kept && kept.until > Clock.now
      rescue TimeoutError
        nil
      end

      def ask(id, identity)
        return unless @pubsub.engine # no other process
        listen
        @asked[id] = answer = Operation.new
        publish(ask: id, identity: identity)
        answer.await(timeout: ANSWER)
      rescue TimeoutError, OverloadError
        nil
      ensure
        @asked.delete(id)
      end

      def receive(message)
        return if message["process"] == @process
        if (id = message["ask"])
          answer(id, message["identity"]) if @open.key?(id) || @kept.key?(id)
        else
          @asked[message["id"]]&.succeed(message["identifiers"])
        end
      end

      def answer(id, identity)
        Pelton.spawn(name: "a cable's session", detached: true) do
          identifiers = taken(id, identity)
          publish(id: id, identifiers: identifiers) if identifiers
        end
      end

      def publish(**message) = @pubsub.publish(TOPIC, JSON.generate(process: @process, **message))
    end
  end
end
