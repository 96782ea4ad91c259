# frozen_string_literal: true

# A language model that thinks slowly: 50 tokens in two seconds, as server-sent events.
require "pelton/http"

run lambda { |_env|
  events = Pelton::HTTP::EventStream.new do |stream|
    50.times do |number|
      stream.emit("token#{number}")
      sleep 0.04
    end
  end
  [200, events.headers, events]
}
