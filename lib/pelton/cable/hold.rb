# frozen_string_literal: true

module Pelton
  module Cable
    # Holds a stream's live messages back from a client that is about to get the stream's history: it gets each message
    # once and in order, so the position of the last one holds for all before it. Messages that are not kept pass.
    # @private
    class Hold
      # @return [Session]
      attr_reader :session

      # @return [String]
      attr_reader :identifier

      # @param limit [Integer] bytes that may wait
      # @yieldparam json [String] a message that the client gets now
      # @yieldparam position [String, nil]
      def initialize(session, identifier, limit:, &send)
        @session = session
        @identifier = identifier
        @limit = limit
        @send = send
        @messages = []
        @bytes = 0
      end

      # @return [Boolean] whether messages wait
      def waiting? = @messages.any?

      # @return [Boolean] whether the history was sent
      def released? = !!@released

      # A live message.
      def push(json, position)
        return @send.call(json, position) if position.nil? || (released? && new?(position))
        return if released?
        @messages << [json, position]
        @session.server.too_slow(@session.socket) if (@bytes += json.bytesize) > @limit
      end

      # The history was sent. Messages that wait elsewhere may be part of it, and are left out when they come.
      #
      # @param last [String, nil] the position up to which it was sent; nil: the client wants none
      def release(last)
        @released = true
        @last = PubSub::History.parse(last) if last
        messages, @messages = @messages, []
        messages.each { |json, position| push(json, position) }
      end

      private

      def new?(position)
        return true unless @last
        epoch, offset = PubSub::History.parse(position)
        epoch != @last.first || offset > @last.last
      end
    end
  end
end
