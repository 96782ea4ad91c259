# frozen_string_literal: true

require "pelton/lab/measurement"

# Stands for a {Pelton::Lab::WebServer} that costs nothing.
class FakeServer
  DONE = Struct.new(:requests, :seconds).new(500, 2.0)

  def cost
    done = yield
    Pelton::Lab::Measurement.new(user: 0.5, system: 0.25, real: done.seconds, operations: done.requests,
      rss_kb: 20_480, records: {grown_mb: 10.0})
  end
end
