# frozen_string_literal: true

require "test_helper"
require "support/cable_browsing"
require "support/cable_client"

# This gem's client, in a browser.
class CableClientInBrowserTest < PeltonTest
  include CableBrowsing

  self.deadline = 120

  class ChatChannel < Pelton::Cable::Channel
    FAILURES = [] # standard:disable Style/MutableConstant

    def subscribed
      raise FAILURES.shift if FAILURES.any?
      (params[:room] == "closed") ? reject : stream_from("chat #{params[:room]}")
    end

    def speak(data) = broadcast("chat #{params[:room]}", data["text"])
  end

  class Connection < Pelton::Cable::Connection
    identified_by :user

    def connect = self.user = (cookies["user"] || reject_unauthorized_connection)
  end

  PAGE = <<~HTML
    <!doctype html><link rel="icon" href="data:,"><main data-position="%s"></main><script type="module">
      import { Cable } from "/cable/client.js"
      window.seen = []
      window.states = []
      Math.random = () => -0.4 // pauses of a tenth
      window.cable = new Cable()
      cable.addEventListener("state", ({ detail }) => states.push(detail))
      window.subscribe = (room, position) => cable.subscribe("CableClientInBrowserTest::ChatChannel", { room }, {
        connected: () => seen.push(`connected ${room}`),
        rejected: () => seen.push(`rejected ${room}`),
        missed: () => seen.push(`missed ${room}`),
        received: (message) => seen.push(message),
        position
      })
      window.until = async (condition) => {
        while (!condition()) await new Promise((next) => setTimeout(next, 20))
        return seen.splice(0)
      }
      window.ready = true
    </script>
  HTML

  def setup
    super
    ChatChannel::FAILURES.clear
    skip "Chromium is not installed" unless Chromium.path
  end

  def test_it_subscribes_performs_and_is_rejected
    browsing do |browser|
      browser.evaluate(%(window.chat = subscribe("open"); subscribe("closed"); 0))
      assert_equal ["connected open", "rejected closed"], seen(browser, 2).sort
      assert_equal true, browser.evaluate(%(chat.perform("speak", { text: "ä ".repeat(500) })))
      assert_equal ["ä " * 500], seen(browser, 1)
      browser.evaluate("chat.unsubscribe(); cable.close(); 0")
      assert_equal ["connected", "offline"], browser.evaluate("states")
      assert_equal false, browser.evaluate(%(chat.perform("speak", { text: "nobody" })))
      assert_empty browser.complaints
    end
  end

  def test_it_has_missed_nothing_when_it_comes_back
    browsing do |browser, on_loop|
      browser.evaluate(%(subscribe("kept"); subscribe("plain"); 0))
      assert_equal ["connected kept", "connected plain"], seen(browser, 2).sort
      on_loop.call { |cable| cable.broadcast("chat kept", 1) }
      assert_equal [1], seen(browser, 1)
      on_loop.call do |cable|
        cable.sessions.each { |session| session.socket.abort }
        cable.broadcast("chat kept", 2)
      end

      assert_equal ["connected kept", 2, "missed plain", "connected plain"].sort_by(&:to_s),
        seen(browser, 4).sort_by(&:to_s)
      assert_equal %w[connected connecting connected], browser.evaluate("states")
    end
  end

  # A busy database, for instance.
  def test_it_subscribes_again_after_an_error
    browsing do |browser|
      reported = []
      Pelton.on_error { |error, _| reported << error.message }
      2.times { ChatChannel::FAILURES << "busy" }
      browser.evaluate(%(subscribe("open"); 0))

      assert_equal ["connected open"], seen(browser, 1)
      assert_equal ["busy"], reported, "over one connection"
      assert_equal ["connected"], browser.evaluate("states"), "over one connection"
    ensure
      Pelton.on_error
    end
  end

  def test_it_gets_what_has_come_since_the_page_was_rendered
    browsing do |browser, on_loop|
      on_loop.call { |cable| cable.broadcast("chat kept", "after the render") }
      browser.evaluate(%(subscribe("kept", document.querySelector("main").dataset.position); 0))

      assert_equal ["connected kept", "after the render"], seen(browser, 2)
      on_loop.call { |cable| 4.times { |number| cable.broadcast("chat kept", number) } }
      browser.evaluate("until(() => seen.length === 4)")
      browser.evaluate(
        %(cable.subscriptions.clear(); subscribe("kept", document.querySelector("main").dataset.position); 0)
      )
      browser.evaluate("cable.lost(); 0")
      assert_equal ["connected kept", "missed kept"], seen(browser, 2)
    end
  end

  # A browser may keep the page, and show it again.
  def test_a_page_that_is_left_has_no_connection_and_misses_nothing
    browsing do |browser, on_loop|
      browser.evaluate(%(subscribe("kept"); 0))
      assert_equal ["connected kept"], seen(browser, 1)
      on_loop.call { |cable| cable.broadcast("chat kept", 1) }
      assert_equal [1], seen(browser, 1)
      leave = %(dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })))
      assert_equal "connecting", browser.evaluate("#{leave}; cable.state")
      on_loop.call { |cable| cable.broadcast("chat kept", 2) }
      browser.evaluate(%(dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })); 0))

      assert_equal ["connected kept", 2], seen(browser, 2)
    end
  end

  def test_it_stays_away_when_it_is_signed_out
    browsing do |browser, on_loop|
      browser.evaluate("until(() => cable.state === 'connected')")
      on_loop.call { |cable| cable.disconnect(user: "ann", reconnect: false) }
      browser.evaluate("until(() => cable.state === 'signed out')")

      assert_equal ["connected", "signed out"], browser.evaluate("states")
    end
  end

  def test_it_is_offline_while_no_attempt_succeeds
    browsing do |browser, on_loop|
      browser.evaluate("until(() => cable.state === 'connected')")
      on_loop.call { |cable| (@away = true) && cable.disconnect }
      browser.evaluate("until(() => cable.state === 'offline')")
      on_loop.call { @away = false }
      browser.evaluate("until(() => cable.state === 'connected')")

      assert_equal %w[connected connecting offline connected], browser.evaluate("states")
    end
  end

  private

  def seen(browser, count) = browser.evaluate("until(() => seen.length >= #{count})")

  def browsing
    make = -> {
      Pelton::Cable::Server.new(connection: Connection, pubsub: Pelton::PubSub.new.keep("chat kept",
        messages: 3), heartbeat: 1)
    }
    browse(make, method(:application)) do |browser, on_loop|
      browser.evaluate(
        "new Promise((next) => { const look = () => window.ready ? next() : setTimeout(look, 10); look() })"
      )
      yield browser, on_loop
    end
  end

  def application(cable)
    lambda do |env|
      unless env["PATH_INFO"].start_with?("/cable")
        next [200, {"content-type" => "text/html; charset=utf-8", "set-cookie" => "user=ann"}, [page(cable)]]
      end
      next [503, {}, []] if @away
      cable.call(env.merge("SCRIPT_NAME" => "/cable", "PATH_INFO" => env["PATH_INFO"].delete_prefix("/cable")))
    end
  end

  def page(cable) = format(PAGE, Pelton::Cable.position("chat kept", pubsub: cable.pubsub).gsub('"', "&quot;"))
end
