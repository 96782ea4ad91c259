# frozen_string_literal: true

require "test_helper"
require "support/cable_browsing"
require "support/cable_client"

# @rails/actioncable, unchanged, in a browser. Its file is in the gem actioncable.
class CableBrowserTest < PeltonTest
  include CableBrowsing
  include CableClient

  self.deadline = 120

  SCRIPT = Gem.path.flat_map { |path| Dir["#{path}/gems/actioncable-*/app/assets/javascripts/actioncable.js"] }.max

  class ChatChannel < Pelton::Cable::Channel
    def subscribed = (params[:room] == "closed") ? reject : stream_from("chat #{params[:room]}")

    def speak(data) = broadcast("chat #{params[:room]}", {text: data["text"], binary: connection.socket.protocol})
  end

  class Connection < Pelton::Cable::Connection
    identified_by :socket

    def connect = self.socket = @session.socket
  end

  PAGE = <<~HTML
    <!doctype html><link rel="icon" href="data:,"><script src="/actioncable.js"></script><script>
      ActionCable.ConnectionMonitor.staleThreshold = 1 // seconds: it comes back sooner
      const seen = []
      const cable = ActionCable.createConsumer("/cable")
      const subscribe = room => cable.subscriptions.create({channel: "CableBrowserTest::ChatChannel", room}, {
        connected() { seen.push(`connected ${room}`) },
        disconnected() { seen.push(`disconnected ${room}`) },
        rejected() { seen.push(`rejected ${room}`) },
        received(message) { seen.push(message) }
      })
      const chat = subscribe("open")
      subscribe("closed")
      const until = async count => {
        while (seen.length < count) await new Promise(next => setTimeout(next, 20))
        return seen
      }
    </script>
  HTML

  def test_it_subscribes_performs_and_comes_back
    skip "Chromium is not installed" unless Chromium.path
    skip "the gem actioncable is not installed" unless SCRIPT
    browsing do |browser, on_loop|
      assert_equal ["connected open", "rejected closed"], browser.evaluate("until(2)").sort
      browser.evaluate(%(chat.perform("speak", {text: "ä ".repeat(500)})))
      assert_equal({"text" => "ä " * 500, "binary" => "actioncable-v1-json"}, browser.evaluate("until(3)").last)

      on_loop.call(&:disconnect) # it comes back by itself, and subscribes again
      assert_equal ["disconnected open", "connected open"], browser.evaluate("until(5)").grep(String).last(2)
      on_loop.call { |cable| cable.broadcast("chat open", "again") }
      assert_equal "again", browser.evaluate("until(6)").last
      assert_empty browser.complaints
    end
  end

  private

  def browsing(&block)
    make = -> { Pelton::Cable::Server.new(connection: Connection, pubsub: Pelton::PubSub.new, heartbeat: 1) }
    browse(make, method(:application), &block)
  end

  def application(cable)
    lambda do |env|
      case env["PATH_INFO"]
      when "/cable" then cable.call(env)
      when "/actioncable.js" then [200, {"content-type" => "text/javascript"}, [File.read(SCRIPT)]]
      else [200, {"content-type" => "text/html; charset=utf-8"}, [PAGE]]
      end
    end
  end
end
