# frozen_string_literal: true

require "json"
require "pelton/http/websocket"

# A browser's side of a channel of Action Cable.
class CableClient
  attr_reader :socket

  # Returns when the server has confirmed the subscription.
  #
  # @param channel [String, nil] nil: without a subscription
  # @param params [Hash] of the subscription
  # @param query [String] of the URL
  def initialize(port, channel = nil, params: {}, query: "", headers: {}, protocols: ["actioncable-v1-json"])
    @socket = Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{port}/cable?#{query}", protocols: protocols,
      headers: {"Origin" => "http://127.0.0.1:#{port}"}.merge(headers))
    return unless channel
    await { |message| message["type"] == "welcome" } # Action Cable may lose what comes earlier
    subscribe(channel, **params)
  end

  # @return [String] the type of the answer
  def subscribe(channel, **params)
    @identifier = JSON.generate({channel: channel, **params})
    say("subscribe")
    await { |message| message["type"].to_s.end_with?("_subscription") }&.fetch("type")
  end

  def say(command, **data)
    @socket.write(
      JSON.generate({command: command, identifier: @identifier}.merge(data.empty? ? {} : {data: JSON.generate(data)}))
    )
  end

  # @return [Object] what the channel transmits after one of its actions
  def perform(action, **data)
    say("message", action: action, **data)
    message
  end

  # @return [Object] the next message of the channel
  def message = await { |message| message.key?("message") && !message["type"] }&.fetch("message") # a ping has both

  # @return [Hash, nil] the next frame that is no ping
  def frame = await { |message| message["type"] != "ping" }

  # @return [Hash, nil] nil when the socket is closed
  # @raise [Pelton::TimeoutError] heartbeats come, but nothing else
  def await
    limit = Pelton::Clock.now + 20
    while (text = @socket.receive(timeout: Pelton::Clock.left(limit)))
      message = JSON.parse(text)
      return message if yield message
    end
  end
end
