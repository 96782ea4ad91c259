# frozen_string_literal: true

require "json"
require "pelton/cable"
require "pelton/http/websocket"
require "pelton/test"
require_relative "http/servers"

# A server of cables in this process, and clients. For PeltonTests.
module CableClient
  include HttpServers

  # A client of the protocol.
  class Client
    LIMIT = 60 # seconds for a message

    attr_reader :socket

    # @return [Hash] once it was welcomed
    attr_reader :welcome

    def initialize(url, headers: {}, protocols: [Pelton::Cable::PROTOCOL])
      @socket = Pelton::HTTP::WebSocket.connect(url, headers: headers, protocols: protocols)
    end

    # @return [Hash, nil] the next message that is no ping
    def receive = await { |message| message["type"] != "ping" }

    # @return [Hash, nil] the next message for which the block is true; nil when the socket is closed
    # @raise [Pelton::TimeoutError] only others come
    def await
      limit = Pelton::Clock.now + LIMIT
      while (text = @socket.receive(timeout: Pelton::Clock.left(limit)))
        message = JSON.parse(text)
        @welcome = message if message["type"] == "welcome"
        return message if yield message
      end
    end

    def send(**command) = @socket.write(JSON.generate(command))

    def identifier(channel, **params) = JSON.generate({channel: channel, **params})

    # @return [String] the type of the answer
    def subscribe(channel, **params)
      send(command: "subscribe", identifier: identifier(channel, **params))
      receive["type"]
    end

    def perform(channel, action, data = {}, **params)
      send(command: "message", identifier: identifier(channel, **params), data: JSON.generate({action: action, **data}))
    end
  end

  private

  # @yieldparam url [String]
  # @yieldparam cable [Pelton::Cable::Server]
  def serving(app: nil, **options)
    options = {pubsub: Pelton::PubSub.new, **options}
    cable = Pelton::Cable::Server.new(**options)
    serving_here(app || cable) do |port, server|
      @server = server
      yield "ws://127.0.0.1:#{port}/", cable
    end
  end

  # @return [Client] that was welcomed
  def connect(url, **options)
    client = Client.new(url, **options)
    assert_equal "welcome", client.receive["type"]
    client
  end
end
