# frozen_string_literal: true

module Pelton
  module Cable
    # A subscription's place in a text ({ResumableStream}), and the task that sends what comes. A message has the place
    # after it as the position of a stream, whose epoch is the run. So a client of the extended protocol that comes
    # back asks for what it has missed as it does with other streams. Other clients have no position, and get the text
    # from its beginning.
    # @private
    class Follower
      # How the names of these streams begin. A client has no other way to subscribe to them than its channel.
      PREFIX = "#{Streams::INTERNAL}text:".freeze
      # Of a close frame: the server has failed.
      FAILED = 1011
      private_constant :PREFIX, :FAILED

      # What a client gets of an event, if the channel does not say it.
      #
      # @param event [ResumableStream::Event]
      # @return [Hash]
      def self.message(event)
        case event.type
        when :append then {event: event.first? ? "update" : "append", text: event.text}
        when :begin then {event: "update", text: ""}
        else {event: event.type, error: event.error}.compact
        end
      end

      # @return [String] of the stream, as clients see it
      attr_reader :name

      # @param session [Session]
      # @param identifier [String] of the subscription
      # @param stream [ResumableStream]
      # @param after [String, nil] the position that the page has
      # @yieldparam event [ResumableStream::Event]
      # @yieldreturn [Object, nil] the message; nil: none
      def initialize(session, identifier, stream, after, &message)
        @session, @identifier, @stream, @after = session, identifier, stream, after
        @message = message || Follower.method(:message)
        @name = PREFIX + stream.name
      end

      # @param position [Object] what the client has sent as its position: "epoch" and "offset"
      # @return [self]
      def start(position = nil)
        return self if @task || @stopped
        @after = position.values_at("epoch", "offset").join(":") if position.is_a?(Hash)
        @after = nil unless @session.extended? # it will send the same when it comes back
        @task = Pelton.spawn(name: "text of a cable: #{@stream.name}", transient: true, detached: true) { follow }
        self
      end

      # @return [true]
      def stop
        @task&.cancel
        @stopped = true
      end

      private

      def follow
        @stream.follow(after: @after) { |event| tell(event) if event }
      rescue => error # the client comes back, and goes on
        @session.server.failed(error)
        @session.disconnect("subscription_failed", true, code: FAILED, text: "a subscription failed")
      end

      def tell(event)
        message = @message.call(event)
        return if message.nil?
        @session.make_room
        @session.transmit_kept(@identifier, JSON.generate(message), @name, event.position)
      end
    end
  end
end
