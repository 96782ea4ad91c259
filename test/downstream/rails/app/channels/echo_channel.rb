# frozen_string_literal: true

class EchoChannel < ActionCable::Channel::Base
  def subscribed = stream_from("echo")

  def speak(data) = ActionCable.server.broadcast("echo", {text: data["text"]})
end
