# frozen_string_literal: true

require "json"
require "pelton/http"
require "pelton/pubsub"
require_relative "cable/channel"
require_relative "cable/client"
require_relative "cable/connection"
require_relative "cable/disconnects"
require_relative "cable/heart"
require_relative "cable/hold"
require_relative "cable/identity"
require_relative "cable/position"
require_relative "cable/presence"
require_relative "cable/recovery"
require_relative "cable/session"
require_relative "cable/signed_streams"
require_relative "cable/stream_channel"
require_relative "cable/streams"
require_relative "cable/follower"
require_relative "cable/subscriptions"
require_relative "cable/server"

module Pelton
  # Action Cable's protocol: a browser subscribes to channels, over one WebSocket, and gets what is broadcast on their
  # streams. A stream is a topic of {PubSub}, so all workers have it.
  #
  # @example config.ru
  #   require "pelton/cable"
  #
  #   class ChatChannel < Pelton::Cable::Channel
  #     def subscribed = stream_from("chat")
  #
  #     def speak(data) = broadcast("chat", data)
  #   end
  #
  #   map("/cable") { run Pelton::Cable::Server.new }
  module Cable
    # The protocol's name: of version 1, in JSON.
    PROTOCOL = "actioncable-v1-json"
    # The same with AnyCable's extensions: messages have positions, and a client that comes back asks for those that it
    # missed.
    EXTENDED = "actioncable-v1-ext-json"

    # A command of a client that cannot be executed. It is logged and counted, and the client's next command comes.
    class Refused < Error
    end

    class << self
      # Sends a message to all who have subscribed to a stream, in all workers. Any thread may call it; it waits for
      # nobody.
      #
      # @param stream [String]
      # @param message [Object] that JSON can express
      # @param pubsub [PubSub]
      # @return [nil]
      # @raise as {PubSub#publish}; what JSON raises for NaN
      def broadcast(stream, message, pubsub: PubSub.default) = pubsub.publish(stream, JSON.generate(message))

      # Where streams are now, for a page that shows their state: its attribute `data-position`, with which its first
      # subscription gets what has come since. Ask before the state is read.
      #
      # @param streams [Array<String>] that keep their messages: see {PubSub#keep}
      # @param pubsub [PubSub]
      # @return [String] JSON
      def position(*streams, pubsub: PubSub.default) = Position.of(streams.to_h { |stream| [stream, stream] }, pubsub)
    end
  end
end
