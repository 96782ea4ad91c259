# frozen_string_literal: true

module Pelton
  module Cable
    # Ends connections by who their clients are, in all processes that have the topics of a {PubSub} in common. A
    # message is kept for processes whose link is cut for a moment; where one may be lost nevertheless, all clients have
    # to connect again.
    # @private
    class Disconnects
      TOPIC = "pelton-cable-disconnects"
      KEPT = {messages: 1000, seconds: 60}.freeze
      private_constant :TOPIC, :KEPT

      # What was ended: those whose {Connection#connect} was under way then had perhaps asked the database before.
      Ended = Struct.new(:texts, :reconnect, :time)
      private_constant :Ended

      # @param pubsub [PubSub]
      # @param group [String] of the servers that are meant: the name of their connections' class
      # @yieldreturn [Array<Session>] the open ones of this process
      def initialize(pubsub, group, &sessions)
        @pubsub = pubsub
        @group = group
        @sessions = sessions
        @ended = []
      end

      # Heeds the other processes, from now on.
      #
      # @return [Float] the time: see {#check}
      def listen
        if @listening.nil? || @listening.closed? # with the run before
          @reactor = Reactor.current
          @listening = @pubsub.attach(TOPIC, gap: -> { finish({}, true) }) { |json, _| receive(JSON.parse(json)) }
        end
        Clock.now
      end

      # Ends connections in this process, at once on the thread that serves, and in all others. Any thread may call it.
      #
      # @param texts [Hash{String => String, nil}] see {Identity.texts}
      # @raise [OverloadError] the others cannot be told
      def disconnect(texts, reconnect)
        finish(texts, reconnect) if @reactor.equal?(Reactor.current)
        @pubsub.keep(TOPIC, **KEPT)
        @pubsub.publish(TOPIC, JSON.generate(group: @group, texts: texts, reconnect: reconnect))
      end

      # Ends connections in this process alone. The thread that serves calls it.
      def finish(texts, reconnect)
        remember(texts, reconnect)
        @sessions.call.each do |session|
          session.disconnect("remote", reconnect) if Identity.match?(texts, session.connection)
        end
      end

      # Ends a session that was meant while it was not open yet.
      #
      # @param time [Float] at which its {Connection#connect} began
      def check(session, time)
        ended = @ended.reverse_each.find { |one| one.time >= time && Identity.match?(one.texts, session.connection) }
        session.disconnect("remote", ended.reconnect) if ended
      end

      private

      def receive(message) = (finish(message["texts"], message["reconnect"]) if message["group"] == @group)

      def remember(texts, reconnect)
        now = Clock.now
        @ended.shift while @ended.any? && (@ended.size >= KEPT[:messages] || @ended.first.time < now - KEPT[:seconds])
        @ended << Ended.new(texts, reconnect, now)
      end
    end
  end
end
