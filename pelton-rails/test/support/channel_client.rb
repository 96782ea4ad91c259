# frozen_string_literal: true

require_relative "../../../test/support/cable_client"

# A browser's side of one channel of an application with Rails.
class ChannelClient < CableClient::Client
  # Returns when the server has answered the subscription.
  #
  # @param channel [String, nil] nil: without a subscription
  # @param params [Hash] of the subscription
  # @param query [String] of the URL
  def initialize(port, channel = nil, params: {}, query: "", headers: {}, **options)
    headers = {"Origin" => "http://127.0.0.1:#{port}"}.merge(headers)
    super("ws://127.0.0.1:#{port}/cable?#{query}", headers: headers, **options)
    return unless channel
    await { welcome } # Action Cable may lose what comes earlier
    subscribe(channel, **params)
  end

  # @return [String] the type of the answer, before which the channel may have transmitted something
  def subscribe(channel, **params)
    @identifier = identifier(channel, **params)
    say("subscribe")
    await { |message| message["type"].to_s.end_with?("_subscription") }&.fetch("type")
  end

  def say(command, **data)
    send(command: command, identifier: @identifier, **(data.empty? ? {} : {data: JSON.generate(data)}))
  end

  # @return [Object] what the channel transmits after one of its actions
  def ask(action, **data)
    say("message", action: action, **data)
    message
  end

  # @return [Object] the next message of the channel
  def message = await { |message| message.key?("message") && !message["type"] }&.fetch("message") # a ping has both
end
