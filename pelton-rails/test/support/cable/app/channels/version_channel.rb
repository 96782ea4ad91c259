# frozen_string_literal: true

# It is loaded again when its file has changed.
class VersionChannel < ActionCable::Channel::Base
  VERSION = 1

  def subscribed = stream_from("version")

  def show = transmit({"version" => VERSION})
end
