# frozen_string_literal: true

# Channels of Pelton::Cable. POST /broadcast?N sends N messages, each with its number and the time. KEEP is how many the
# stream keeps.
require "pelton/cable"

Pelton::PubSub.keep("lab", messages: Integer(ENV["KEEP"])) if ENV["KEEP"]

class LabChannel < Pelton::Cable::Channel
  def subscribed = stream_from("lab")
end

map("/cable") { run Pelton::Cable::Server.new }

run(lambda do |env|
  Integer(env["QUERY_STRING"]).times do |number|
    Pelton::Cable.broadcast("lab", {n: number, at: Process.clock_gettime(Process::CLOCK_MONOTONIC)})
  end
  [201, {"content-type" => "text/plain"}, ["sent"]]
end)
