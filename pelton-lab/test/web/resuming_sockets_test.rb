# frozen_string_literal: true

require "test_helper"
require "support/http/servers"
require "pelton/lab/run"
require "pelton/lab/web/resuming_sockets"
require "pelton/cable"

class LabResumingSocketsTest < PeltonTest
  include HttpServers

  class NewsChannel < Pelton::Cable::Channel
    def subscribed = stream_from("news")
  end

  def test_they_come_back_and_miss_what_is_not_kept
    serve do |url, on_loop|
      clients = Pelton::Lab::ResumingSockets.new(Pelton::Lab::Run.new(size: 1), url, 5,
        channel: {channel: NewsChannel.name}, timeout: 1)
      on_loop.call { |cable| 2.times { |number| cable.broadcast("news", number) } }
      assert_equal 0, clients.missed(2)
      on_loop.call do |cable|
        cable.disconnect
        cable.broadcast("news", 2)
      end
      assert_equal 0, clients.missed(3)
      assert_equal 5, clients.returns
      on_loop.call do |cable|
        cable.disconnect
        3.times { |number| cable.broadcast("news", 3 + number) } # one more than is kept
      end
      assert_operator clients.missed(6), :>, 0
    ensure
      clients&.close
    end
  end

  private

  def serve
    cable = nil
    make = -> { cable = Pelton::Cable::Server.new(pubsub: Pelton::PubSub.new.keep("news", messages: 2)) }
    serving_on_a_thread(make: make) do |port, on_loop|
      yield "ws://127.0.0.1:#{port}/", ->(&block) { on_loop.call { block.call(cable) } }
    end
  end
end
