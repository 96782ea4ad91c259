# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPIdleMemoryTest < PeltonTest
  # It looks at the beginning and the end of each period.
  def test_memory_is_released_once_less_than_half_of_the_peak_is_left
    busy = [80, 70, 60, 41]
    released = []
    memory = Pelton::HTTP::IdleMemory.new(-> { busy.shift || 39 }, -> { released << busy.size }, period: 0.02)
    collections = GC.count
    Pelton.run { memory.release_after_peak }

    assert_equal [0], released
    assert_operator GC.count, :>, collections
  end

  def test_a_server_releases_the_memory_of_a_peak
    gate = Thread::Queue.new
    server = Pelton::HTTP::Server.new(->(_env) { [200, {}, [gate.pop]] })
    released = []
    server.define_singleton_method(:_trim) { released << stats[:running] }
    Pelton.run do
      url = "http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}/"
      client = Pelton::HTTP::Client.new(url, concurrency: 70)
      requests = Array.new(70) { Pelton.spawn { client.get("/").body } }
      sleep 0.01 until server.stats[:running] == 70
      70.times { gate << "x" }

      assert_equal ["x"] * 70, requests.map(&:await)
      sleep 0.01 while released.empty?
      client.close
      server.stop
    end

    assert_equal [0], released
  end
end
