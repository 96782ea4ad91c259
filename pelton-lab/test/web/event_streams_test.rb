# frozen_string_literal: true

require "test_helper"
require "support/http/servers"
require "pelton/lab/run"
require "pelton/lab/web/event_streams"

class LabEventStreamsTest < PeltonTest
  include HttpServers

  Served = Struct.new(:port) do
    def url(path) = "http://127.0.0.1:#{port}#{path}"
  end

  # A server whose streams have two events, while the block runs.
  def serving
    app = lambda do |env|
      next [200, {}, ["a page"]] unless env["PATH_INFO"] == "/stream"
      events = Pelton::HTTP::EventStream.new do |stream|
        2.times { |number| stream.emit("token#{number}") && sleep(0.01) }
      end
      [200, events.headers, events]
    end
    serving_on_a_thread(app) { |port| yield Served.new(port) }
  end

  def test_streams_are_timed_with_pages_beside_them
    serving do |server|
      done = Pelton::Lab::EventStreams.new(Pelton::Lab::Run.new(size: 1), server, events: 2).read(5, 3)

      assert_equal 5, done.requests
      assert_includes 0..done.seconds * 1000, done.gap_ms, "0: both events were read at once"
      (done.members - [:gap_ms]).each { |name| assert_operator done[name], :>, 0, name.to_s }
    end
  end

  def test_a_stream_that_lacks_events_is_wrong
    serving do |server|
      run = Pelton::Lab::Run.new(size: 1)
      assert_raises(Pelton::Lab::Run::WrongAnswer) { Pelton::Lab::EventStreams.new(run, server, events: 3).read(1, 1) }
    end
  end
end
