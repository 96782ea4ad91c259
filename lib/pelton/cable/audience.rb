# frozen_string_literal: true

module Pelton
  module Cable
    # Who gets the same frame of a stream: the subscriptions with one identifier, whose clients speak one protocol.
    # @private
    Audience = Struct.new(:identifier, :extended) do
      # @param identifier [String]
      # @param json [String]
      # @return [String] what a client gets
      def self.envelope(identifier, json) = %({"identifier":#{JSON.generate(identifier)},"message":#{json}})

      # @param json [String] the message
      # @param stream [String]
      # @param position [String, nil] nil: the stream keeps no messages
      # @return [String] what these clients get
      def encode(json, stream, position)
        return Audience.envelope(identifier, json) unless extended && position
        epoch, offset = PubSub::History.parse(position)
        %({"identifier":#{JSON.generate(identifier)},"message":#{json},"stream_id":#{JSON.generate(stream)},) +
          %("epoch":"#{epoch}","offset":#{offset}})
      end
    end
  end
end
