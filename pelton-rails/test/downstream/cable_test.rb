# frozen_string_literal: true

require_relative "../support/channel_client"
require_relative "../support/rails_serving"
require_relative "../../../test/support/chromium"
require_relative "../../../test/support/databases"

# Rails' connections and channels, on Pelton::Cable.
class RailsCableTest < PeltonTest
  include RailsProgram
  include RailsServing
  include Databases

  self.deadline = 120

  def test_connections_and_channels_work_as_they_are
    with_cable do |serving|
      client = ChannelClient.new(serving.port, "NewsChannel", query: "user=ann")
      assert_equal({"echo" => "ä", "process" => serving.pid, "fiber" => true}, client.ask("echo", text: "ä"))
      assert_equal({"rescued" => "key"}, client.ask("fetch"))
      client.say("message", action: "fail")
      assert_equal({"rescued" => "on purpose"}, client.await { |frame| frame["rescued"] })
      assert_equal "from a thread", client.ask("thread")
      %w[hidden subscribed unsubscribed transmit nothing user].each { |action| client.say("message", action: action) }
      broadcast(serving, "news", {"a" => "<b>"})
      assert_equal({"a" => "<b>"}, client.message)

      assert_includes facts(serving)["notes"], "transmit NewsChannel streamed from news to 1"
      assert_includes facts(serving)["notes"], "closed: the body of /cable" # by which Rails' executor ends

      assert_equal "reject_subscription", client.subscribe("NewsChannel", reject: true)
      ["NoChannel", "Object", "ApplicationCable::Connection", "puts 1"].each do |name|
        assert_equal "reject_subscription", client.subscribe(name), name
      end
      client.socket.close
      notes = eventually { facts(serving).fetch("notes").then { |all| all if all.last == "ann is gone, from ann" } }
      assert_equal ["unsubscribed ann", "after the end", "ann is gone, from ann"], notes.last(3)
      assert_equal 1, notes.count("transmit_subscription_confirmation NewsChannel")
      assert_equal 1, notes.count("transmit_subscription_rejection NewsChannel")
      assert_equal 6, notes.count("perform_action NewsChannel") # of which Rails allows subscribed and unsubscribed, too
      assert_includes notes, "before a command of ann" if RailsProgram::VERSION > "7.0"
      assert_operator notes.index("before"), :<, notes.index("after")

      assert_match(/\[Cable\] \[for ann\] \[tagged ann\].*NewsChannel is streaming from news/,
        File.read("#{serving.folder}/rails.log"))
    end
  end

  def test_streams_with_blocks_coders_and_timers
    with_cable do |serving|
      client = ChannelClient.new(serving.port, "BlockChannel", query: "user=ann")
      broadcast(serving, "raw", {"n" => 1})
      assert_equal({"raw" => %({"n":1})}, client.message)
      4.times { |number| broadcast(serving, "decoded", {"n" => number}) }
      assert_equal [{"n" => 4}, {"n" => 6}], Array.new(2) { client.message }
      broadcast(serving, "upper", "a")
      assert_equal %("A"), client.message
      broadcast(serving, "callback", "a")
      assert_equal({"callback" => %("a")}, client.message)

      shouting = ChannelClient.new(serving.port, "ShoutingChannel", query: "user=ann")
      broadcast(serving, "shouting:all", {"text" => "hello"})
      assert_equal({"loud" => "HELLO"}, shouting.message)
      clock = ChannelClient.new(serving.port, "ClockChannel", query: "user=ann")
      assert_equal [1, 2, 3], Array.new(3) { clock.message["tick"] }
    end
  end

  def test_a_call_that_never_returns_ends
    with_cable(environment: {"TIMEOUT" => "0.5", "CALLBACKS" => "1"}) do |serving|
      bob = ChannelClient.new(serving.port, query: "user=bob", protocols: ["actioncable-v1-ext-json"]).tap(&:receive)
      identifier = JSON.generate(channel: "NeverChannel", wait: true)
      bob.socket.write(JSON.generate(command: "subscribe", identifier: identifier))
      assert_equal ["subscription_failed", true], bob.receive.values_at("reason", "reconnect")
      client = ChannelClient.new(serving.port, "NeverChannel", query: "user=ann")
      client.say("message", action: "wait")
      assert_equal "now", client.ask("now")
      assert_equal({"cable_subscriptions" => 1, "cable_errors" => 2},
        facts(serving)["stats"].slice("cable_subscriptions", "cable_errors"))
    end
  end

  def test_who_may_not_connect
    serving = serve("cable")
    run_clients do
      client = ChannelClient.new(serving.port)
      assert_equal({"type" => "disconnect", "reason" => "unauthorized", "reconnect" => false}, client.receive)
      assert_nil client.receive
      failing = ChannelClient.new(serving.port, query: "user=failing")
      assert_nil failing.receive
      assert_equal 1011, failing.socket.close_code
      assert_raises(Pelton::HTTP::WebSocket::HandshakeError) do
        ChannelClient.new(serving.port, headers: {"Origin" => "http://evil.example"})
      end
      foreign = {"Origin" => "http://other.example", "Cookie" => "user=bob"}
      assert_equal "welcome", ChannelClient.new(serving.port, headers: foreign).receive["type"]

      facts = facts(serving)
      assert_equal ["bob"], facts["connections"]
      assert_equal 1, facts.dig("stats", "cable_connections")
      assert_equal 2, facts.dig("stats", "cable_unauthorized")
      assert_equal 404, Pelton::HTTP.get("http://127.0.0.1:#{serving.port}/cable").status
    end
    assert_match(/There was an exception - RuntimeError\(no connection\)/, File.read("#{serving.folder}/rails.log"))
  end

  def test_remote_disconnect_and_restart
    with_cable do |serving|
      ann, bob = %w[ann bob].map { |user| ChannelClient.new(serving.port, "NewsChannel", query: "user=#{user}") }
      get(serving, "/disconnect?user=ann")
      assert_equal({"type" => "disconnect", "reason" => "remote", "reconnect" => true}, ann.receive)
      assert_nil ann.receive
      get(serving, "/restart")
      assert_equal({"type" => "disconnect", "reason" => "server_restart", "reconnect" => true}, bob.receive)
      assert_nil bob.receive
      again = ChannelClient.new(serving.port, "NewsChannel", query: "user=ann")
      broadcast(serving, "news", 1)
      assert_equal 1, again.message
      eventually { facts(serving)["connections"] == ["ann"] }
    end
  end

  def test_the_workers_have_broadcasts_in_common_by_the_adapter_pelton
    with_cable(options: %w[-w 2], environment: {"CABLE" => "pelton"}) do |serving|
      clients = in_both_workers(serving)
      broadcast(serving, "news", {"n" => 1})
      assert_equal [{"n" => 1}] * clients.size, clients.map(&:message)
      get(serving, "/disconnect?user=ann")
      assert_equal ["remote"] * clients.size, clients.map { |client| client.receive["reason"] }
    end
  end

  def test_the_adapter_pelton_has_history_for_the_extended_protocol
    serving = serve("cable", environment: {"CABLE" => "pelton"})
    run_clients do
      extended = {query: "user=ann", protocols: ["actioncable-v1-ext-json"]}
      client = ChannelClient.new(serving.port, "NewsChannel", **extended)
      broadcast(serving, "news", 0)
      seen = client.receive
      assert_equal [0, "news", 1], seen.values_at("message", "stream_id", "offset")
      client.socket.close
      2.times { |number| broadcast(serving, "news", number + 1) }

      back = ChannelClient.new(serving.port, "VersionChannel", **extended)
      id = JSON.generate(channel: "NewsChannel")
      history = {streams: {"news" => seen.slice("epoch", "offset")}}
      back.socket.write(JSON.generate(command: "subscribe", identifier: id, history: history))
      assert_equal ["confirm_subscription", 1, 2, "confirm_history"],
        Array.new(4) { back.receive }.map { |frame| frame["type"] || frame["message"] }
      back.socket.write(JSON.generate(command: "history", identifier: id, history: {since: Time.now.to_i - 60}))
      frames = Array.new(4) { back.receive }
      assert_equal [0, 1, 2, "confirm_history"], frames.map { |frame| frame["type"] || frame["message"] }
      back.socket.write(JSON.generate(command: "presence", identifier: id))
      assert_equal "error", back.receive.dig("message", "type")
    end
  end

  def test_the_adapter_redis
    needs_servers
    carries_broadcasts("CABLE" => "redis", "REDIS_URL" => "redis://127.0.0.1:#{redis}")
  end

  def test_the_adapter_postgresql
    needs_servers
    carries_broadcasts("CABLE" => "postgresql",
      "DATABASE_URL" => "postgresql://postgres@127.0.0.1:#{postgres}/postgres?pool=10")
  end

  def test_the_adapter_solid_cable
    needs_servers
    carries_broadcasts("CABLE" => "solid_cable")
  end

  def test_a_server_that_stops_tells_its_clients_to_come_back_and_channels_end
    with_cable do |serving|
      clients = Array.new(3) { |number| ChannelClient.new(serving.port, "NewsChannel", query: "user=#{number}") }
      Process.kill("TERM", serving.pid)
      clients.each do |client|
        assert_equal({"type" => "disconnect", "reason" => "server_restart", "reconnect" => true}, client.receive)
        assert_nil client.receive
        assert_equal 1001, client.socket.close_code
      end
      eventually("the end") { serving.ended? }
      assert_equal %w[0 1 2], File.readlines("#{serving.folder}/unsubscribed", chomp: true).sort
    end
  end

  def test_channels_are_reloaded_with_sockets_open
    with_cable(environment: {"RELOAD" => "1"}) do |serving|
      client = ChannelClient.new(serving.port, "VersionChannel", query: "user=ann")
      assert_equal({"version" => 1}, client.ask("show"))
      file = "#{serving.folder}/app/channels/version_channel.rb"
      File.write(file, File.read(file).sub("VERSION = 1", "VERSION = 2"))
      broadcast(serving, "version", 0)
      last = client.await { |frame| frame["type"] == "disconnect" }
      assert_equal %w[disconnect server_restart], last.values_at("type", "reason")

      again = ChannelClient.new(serving.port, "VersionChannel", query: "user=ann")
      assert_equal({"version" => 2}, again.ask("show"))
      broadcast(serving, "version", 3)
      assert_equal 3, again.message
      eventually { facts(serving)["connections"] == ["ann"] }
    end
  end

  def test_so_many_calls_at_once_and_a_channel_that_fails
    serving = serve("cable", environment: {"CALLBACKS" => "3"})
    run_clients do
      clients = Array.new(10) { |number| ChannelClient.new(serving.port, query: "user=#{number}") }
      clients.map { |client| Pelton.spawn { client.receive && client.subscribe("CountingChannel") } }.each do |task|
        assert_equal "confirm_subscription", task.await
      end
      assert_equal 3, facts(serving)["running"]

      client = clients.first
      client.socket.write(JSON.generate(command: "subscribe", identifier: JSON.generate(channel: "BrokenChannel")))
      assert_equal "confirm_subscription", client.subscribe("NewsChannel")
      clients[1].socket.write("nonsense")
      assert_equal "confirm_subscription", clients[1].subscribe("NewsChannel")
      expected = {"cable_errors" => 1, "cable_refused" => 1, "cable_connections" => 10, "cable_rejected" => 0}
      assert_equal expected, facts(serving)["stats"].slice(*expected.keys)
      # As @rails/actioncable does
      2.times do
        client.socket.write(JSON.generate(command: "subscribe", identifier: JSON.generate(channel: "BrokenChannel")))
      end
      eventually { facts(serving)["stats"]["cable_errors"] == 3 }
    end
  end

  %w[7.0 7.1 8.0].each do |version|
    define_method("test_with_rails_#{version}") do
      with_cable(version: version, environment: {"RELOAD" => "1"}) do |serving|
        client = ChannelClient.new(serving.port, "NewsChannel", query: "user=ann")
        assert_equal true, client.ask("echo")["fiber"]
        assert_equal({"rescued" => "key"}, client.ask("fetch"))
        broadcast(serving, "news", 1)
        assert_equal 1, client.message
        get(serving, "/disconnect?user=ann")
        client.await { false }
        client = ChannelClient.new(serving.port, "VersionChannel", query: "user=ann")
        file = "#{serving.folder}/app/channels/version_channel.rb"
        File.write(file, File.read(file).sub("VERSION = 1", "VERSION = 2"))
        get(serving, "/facts")
        assert_equal "server_restart", client.receive["reason"]
        client = ChannelClient.new(serving.port, "VersionChannel", query: "user=ann")
        assert_equal({"version" => 2}, client.ask("show"))
      end
    end
  end

  # What applications test their channels with.
  def test_rails_test_cases_and_the_adapter_test
    jobs = 'require "active_job/railtie"'
    application = APPLICATION.sub(jobs, "#{jobs}\nrequire \"action_cable/engine\"")
    output = rails_output(<<~RUBY, setup: application + DATABASE, env: {"RAILS_ENV" => "test"})
      ActionCable.server.config.cable = {"adapter" => "test"}
      require "rails/test_help"
      class Connection < ActionCable::Connection::Base
        identified_by :user
        def connect = self.user = request.params["user"] || reject_unauthorized_connection
      end
      class NewsChannel < ActionCable::Channel::Base
        def subscribed = params[:room] ? stream_from("news") : reject
        def speak(data) = ActionCable.server.broadcast("news", data["text"])
      end
      class ConnectionTest < ActionCable::Connection::TestCase
        tests Connection
        test("who") { connect(params: {user: "ann"}) && assert_equal("ann", connection.user) }
        test("nobody") { assert_reject_connection { connect } }
      end
      class NewsChannelTest < ActionCable::Channel::TestCase
        test "broadcasts" do
          stub_connection(user: "ann")
          subscribe(room: 1)
          assert subscription.confirmed?
          assert_has_stream "news"
          assert_broadcasts("news", 1) { perform(:speak, text: "hello") }
          assert_broadcast_on("news", "again") { perform(:speak, text: "again") }
          unsubscribe
          assert_no_streams
          subscribe
          assert subscription.rejected?
        end
      end
    RUBY

    assert_match(/3 runs, \d+ assertions, 0 failures, 0 errors/, output)
  end

  def test_turbo_streams_in_a_browser
    needs_servers
    skip "Chromium is not installed" unless Chromium.path
    serving = serve("cable", environment: {"TURBO" => "1", "CABLE" => "pelton"}, options: %w[-w 2])
    Chromium.open do |browser|
      browser.visit("http://127.0.0.1:#{serving.port}/turbo")
      text = "document.querySelector('#list')?.textContent"
      eventually("the subscription", timeout: 20) do
        browser.evaluate("document.querySelector('turbo-cable-stream-source')?.hasAttribute('connected')")
      end
      serving.get("/append?text=hello")
      eventually("the element", timeout: 20) { browser.evaluate(text) == "since the render, hello" }
      assert_empty browser.complaints
    end
    assert_equal 0, serving.stop.exitstatus
  end

  def test_it_can_be_turned_off
    serving = serve("cable", environment: {"OFF" => "1"})
    run_clients do
      client = ChannelClient.new(serving.port, "NewsChannel", query: "user=ann")
      assert_equal false, client.ask("echo")["fiber"]
      client.socket.close
    end
  end

  private

  def carries_broadcasts(environment)
    with_cable(options: %w[-w 2 --preload], environment: environment) do |serving|
      clients = in_both_workers(serving)
      other = ChannelClient.new(serving.port, "NewsChannel", params: {stream: "other"}, query: "user=bob")
      3.times { |number| broadcast(serving, "news", {"n" => number}) }
      clients.each { |client| assert_equal [0, 1, 2], Array.new(3) { client.message["n"] } }
      broadcast(serving, "other", "o")
      assert_equal "o", other.message
      get(serving, "/disconnect?user=ann")
      assert_equal ["remote"] * clients.size, clients.map { |client| client.receive["reason"] }
    end
  end

  # Serves the application while the block runs.
  def with_cable(**options)
    serving = serve("cable", **options)
    run_clients { yield serving }
    assert_equal 0, serving.stop.exitstatus
  end

  # Sockets may be open at the end.
  def run_clients
    Pelton.run do
      yield
    ensure
      Pelton.stop
    end
  end

  # @return [Array<ChannelClient>] whose workers are not all the same
  def in_both_workers(serving)
    clients = []
    processes = []
    until processes.uniq.size == 2
      clients << ChannelClient.new(serving.port, "NewsChannel", query: "user=ann")
      processes << clients.last.ask("echo")["process"]
    end
    clients
  end

  def get(serving, path) = Pelton::HTTP.get("http://127.0.0.1:#{serving.port}#{path}").body

  def facts(serving) = JSON.parse(get(serving, "/facts"))

  def broadcast(serving, stream, message)
    get(serving, "/broadcast?on=#{stream}&json=#{CGI.escape(JSON.generate(message))}")
  end
end
