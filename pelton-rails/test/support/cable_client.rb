# frozen_string_literal: true

require "json"
require "pelton/http/websocket"

# A browser's side of a channel of Action Cable.
class CableClient
  attr_reader :socket

  # Returns when the server has confirmed the subscription.
  def initialize(port, channel)
    @identifier = JSON.generate(channel: channel)
    @socket = Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{port}/cable", protocols: ["actioncable-v1-json"], headers: {"Origin" => "http://127.0.0.1"})
    await { |message| message["type"] == "welcome" } # Action Cable may lose what comes earlier
    say("subscribe")
    await { |message| message["type"] == "confirm_subscription" }
  end

  def say(command, **data)
    @socket.write(JSON.generate({command: command, identifier: @identifier}.merge(data.empty? ? {} : {data: JSON.generate(data)})))
  end

  # @return [Object] what the channel transmits after one of its actions
  def perform(action, **data)
    say("message", action: action, **data)
    await { |message| message["message"] && !message["type"] }["message"] # a ping has both
  end

  # @return [Hash, nil] nil when the socket is closed
  def await
    while (text = @socket.receive(timeout: 20))
      message = JSON.parse(text)
      return message if yield message
    end
  end
end
