# frozen_string_literal: true

require "test_helper"
require "support/cable_client"
require "support/captured_log"
require "support/websocket_peer"

# Commands of a client, good and bad.
class CableSessionTest < PeltonTest
  include CapturedLog
  include CableClient

  class EchoChannel < Pelton::Cable::Channel
    def echo(data)
      sleep data["wait"] if data["wait"]
      transmit(data["n"])
    end

    def fail = raise("no")
  end

  class OrderChannel < Pelton::Cable::Channel
    LOG = [] # standard:disable Style/MutableConstant

    def subscribed
      sleep 0.001
      LOG << "in"
    end

    def unsubscribed = LOG << "out"
  end

  class NewsChannel < Pelton::Cable::Channel
    def subscribed
      stream_from("news")
      stream_from("filtered") {}
      stream_from("quiet")
    end
  end

  class FailingChannel < Pelton::Cable::Channel
    def subscribed
      stream_from("failing")
      raise "no"
    end
  end

  ECHO, ORDER = EchoChannel.name, OrderChannel.name

  def setup
    super
    OrderChannel::LOG.clear
  end

  # Some wait, others do not.
  def test_commands_are_executed_in_their_order_and_hold_up_their_own_socket_alone
    serving do |url,|
      slow, quick = connect(url), connect(url)
      [slow, quick].each { |client| client.subscribe(ECHO) }
      slow.perform(ECHO, "echo", {n: 0, wait: 0.05})
      9.times { |number| slow.perform(ECHO, "echo", {n: number + 1, **(number.odd? ? {wait: 0.001} : {})}) }
      quick.perform(ECHO, "echo", {n: "quick"})
      assert_equal "quick", quick.receive["message"]

      assert_equal (0..9).to_a, Array.new(10) { slow.receive["message"] }
    end
  end

  def test_commands_that_are_refused
    serving do |url, cable|
      client = connect(url)
      client.subscribe(ECHO)
      id = client.identifier(ECHO)
      ["", "{", "1", "[]", "null", "[" * 30_000, %({"command":"subscribe"}), %({"command":"subscribe","identifier":1}),
        %({"command":"jump","identifier":"x"}),
        %({"command":["subscribe"],"identifier":"x"}), %({"command":"message","identifier":"{}","data":"{}"}),
        %({"command":"unsubscribe","identifier":"{}"}),
        JSON.generate(command: "message", identifier: id), JSON.generate(command: "message", identifier: id, data: "{"),
        JSON.generate(command: "message", identifier: id, data: {a: 1}),
        *%w[subscribed unsubscribed transmit reject stream_from instance_eval exit nothing _perform receive
          method_missing]
          .map { |action| JSON.generate(command: "message", identifier: id, data: JSON.generate(action: action)) },
        JSON.generate(command: "message", identifier: id, data: JSON.generate(action: ["echo"]))].each do |text|
          client.socket.write(text)
        end
      client.socket.write("\xff\0".b)
      client.perform(ECHO, "echo", {n: "still here"})

      assert_equal "still here", client.receive["message"]
      assert_equal 28, cable.stats[:refused]
      assert_match(/cable: refuses a command: the command is no JSON/, log)
      assert_operator log.lines.size, :<, 5
    end
  end

  def test_subscriptions_that_are_refused_have_an_answer
    serving(identifier: 1000, subscriptions: 3) do |url, cable|
      client = connect(url)
      assert_equal "reject_subscription", client.subscribe("NoChannel")
      assert_equal "reject_subscription", client.subscribe(ECHO, long: "x" * 1000)
      %w[{ 1 [] {}].push("").each do |identifier|
        client.send(command: "subscribe", identifier: identifier)
        assert_equal({"identifier" => identifier, "type" => "reject_subscription"}, client.receive)
      end
      assert_equal %w[confirm_subscription] * 3 + %w[reject_subscription] * 2,
        Array.new(5) { |number| client.subscribe(ECHO, n: number) }

      assert_equal [3, 9], cable.stats.values_at(:subscriptions, :refused)
    end
  end

  def test_an_identifier_of_a_megabyte_and_who_is_refused_again_and_again
    serving do |url, cable|
      client = connect(url)
      client.send(command: "subscribe", identifier: "x" * (1 << 20))
      assert_nil client.receive
      assert_equal 1009, client.socket.close_code

      client = connect(url)
      150.times { client.socket.write("nonsense") }
      assert_equal ["too_many_refused_commands", false], client.receive.values_at("reason", "reconnect")
      assert_nil client.receive
      assert_equal 1008, client.socket.close_code
      eventually { cable.stats[:connections] == 0 }
    end
  end

  def test_a_second_subscription_with_the_same_identifier_changes_nothing
    serving do |url, cable|
      client = connect(url)
      client.subscribe(ORDER)
      client.send(command: "subscribe", identifier: client.identifier(ORDER))
      client.subscribe(ECHO)

      assert_equal ["in"], OrderChannel::LOG
      assert_equal 2, cable.stats[:subscriptions]
    end
  end

  def test_the_end
    serving do |url, cable|
      one, two, three = Array.new(3) { connect(url) }
      one.subscribe(ORDER)
      one.send(command: "unsubscribe", identifier: one.identifier(ORDER))
      eventually { OrderChannel::LOG == %w[in out] }
      two.subscribe(ORDER)
      two.socket.close
      eventually { OrderChannel::LOG == %w[in out] * 2 }
      three.send(command: "subscribe", identifier: three.identifier(ORDER)) # it leaves while the channel waits
      eventually { cable.stats[:commands] == 4 }
      three.socket.abort
      eventually { cable.stats[:connections] == 1 }

      assert_equal %w[in out] * 3, OrderChannel::LOG
      assert_equal 0, cable.stats[:subscriptions]
    end
  end

  def test_a_server_that_stops_tells_its_clients_to_come_back_and_waits_for_the_end_of_channels
    serving do |url,|
      client = connect(url)
      client.subscribe(ORDER)
      stopping = Pelton.spawn { @server.stop && OrderChannel::LOG.dup }

      assert_equal({"type" => "disconnect", "reason" => "server_restart", "reconnect" => true}, client.receive)
      assert_nil client.receive
      assert_equal 1001, client.socket.close_code
      assert_equal %w[in out], stopping.await
    end
  end

  # ---- the extended protocol

  def test_a_client_that_comes_back_gets_what_it_missed
    serving(pubsub: Pelton::PubSub.new.keep("news", messages: 3)) do |url, cable|
      plain, extended = connect(url), connect(url, protocols: [Pelton::Cable::EXTENDED, Pelton::Cable::PROTOCOL])
      [plain, extended].each { |client| client.subscribe(NewsChannel.name) }
      cable.broadcast("news", "a")
      cable.broadcast("quiet", "b")
      id = plain.identifier(NewsChannel.name)
      assert_equal({"identifier" => id, "message" => "a"}, plain.receive)
      seen = extended.receive
      assert_equal ["a", "news", 1], seen.values_at("message", "stream_id", "offset")
      assert_equal({"identifier" => id, "message" => "b"}, extended.receive)

      extended.socket.close
      2.times { |number| cable.broadcast("news", number) }
      history = {streams: {"news" => seen.slice("epoch", "offset"), "foreign" => {"epoch" => "x", "offset" => 1}}}
      back = connect(url, protocols: [Pelton::Cable::EXTENDED])
      back.send(command: "subscribe", identifier: id, history: history)
      assert_equal ["confirm_subscription", 0, 1, "confirm_history"],
        Array.new(4) { back.receive }.map { |message| message["type"] || message["message"] }
      2.times { cable.broadcast("news", 2) }
      2.times { back.receive }
      back.send(command: "history", identifier: id, history: history)
      assert_equal({"identifier" => id, "type" => "reject_history"}, back.receive)
    end
  end

  def test_what_was_kept_since_a_time
    pubsub = Pelton::PubSub.new.keep("news", messages: 2, seconds: 60)
    serving(pubsub: pubsub) do |url, cable|
      cable.broadcast("news", 1)
      client = connect(url, protocols: [Pelton::Cable::EXTENDED])
      id = client.identifier(NewsChannel.name)
      client.send(command: "subscribe", identifier: id, history: {since: Time.now.to_i - 30, streams: {}})

      assert_equal ["confirm_subscription", 1, "confirm_history"],
        Array.new(3) { client.receive }.map { |message| message["type"] || message["message"] }
      client.send(command: "history", identifier: id, history: {since: Time.now.to_i + 30})

      assert_equal "confirm_history", client.receive["type"]
      3.times { |number| cable.broadcast("news", number) }
      3.times { client.receive }
      [30, 90].each do |seconds|
        client.send(command: "history", identifier: id, history: {since: Time.now.to_i - seconds})
      end

      assert_equal %w[reject_history reject_history], Array.new(2) { client.receive["type"] },
        "more was sent than is kept"
    end
  end

  class LateChannel < Pelton::Cable::Channel
    WAITING = [] # standard:disable Style/MutableConstant

    def subscribed
      %w[kept plain].each { |name| stream_from(name) }
      WAITING << lock = Pelton::Operation.new
      lock.await
    end
  end

  # A channel that waits after it streams, as for a database.
  def test_live_messages_wait_for_the_history
    serving(pubsub: Pelton::PubSub.new.keep("kept")) do |url, cable|
      watch = cable.pubsub.subscribe("kept")
      cable.broadcast("kept", 1)
      watch.receive
      epoch, offset = watch.position.split(":")
      cable.broadcast("kept", 2)
      client = connect(url, protocols: [Pelton::Cable::EXTENDED])
      client.send(command: "subscribe", identifier: client.identifier(LateChannel.name),
        history: {streams: {kept: {epoch: epoch, offset: Integer(offset)}}})
      eventually { LateChannel::WAITING.any? }
      cable.broadcast("kept", 3)
      cable.broadcast("plain", "passes")
      Thread.new { cable.broadcast("kept", 4) }.join # it waits for its turn while the history, which has it, is sent
      LateChannel::WAITING.shift.succeed

      assert_equal ["passes", "confirm_subscription", 2, 3, 4, "confirm_history"],
        Array.new(6) { client.receive.then { |message| message["message"] || message["type"] } }
      cable.broadcast("kept", 5)
      assert_equal 5, client.receive["message"]
    end
  end

  def test_a_history_of_more_than_may_wait_for_a_client
    serving(pubsub: (pubsub = Pelton::PubSub.new.keep("news")), output: 100_000) do |url, cable|
      earlier = pubsub.subscribe("news")
      40.times do
        cable.broadcast("news", [Random.bytes(400_000)].pack("m0"))
        earlier.receive # otherwise the client would get it as a live message, too
      end
      earlier.close
      client = connect(url, protocols: [Pelton::Cable::EXTENDED])
      stream = client.socket.instance_variable_get(:@stream).tap(&:pause) # it reads nothing yet
      client.send(command: "subscribe", identifier: client.identifier(NewsChannel.name),
        history: {since: Time.now.to_i - 30})
      eventually { cable.sessions.first.socket.pending > 100_000 }
      stream.resume
      assert_equal "confirm_subscription", client.receive["type"]
      assert_equal [*1..40, "confirm_history"],
        Array.new(41) { client.receive.then { |message| message["offset"] || message["type"] } }
      assert_equal 0, cable.stats[:slow]
    end
  end

  # The answer behind it does not make the client a slow one.
  def test_a_history_of_one_message_that_is_more_than_may_wait
    serving(pubsub: Pelton::PubSub.new.keep("news"), output: 100_000) do |url, cable|
      cable.broadcast("news", [Random.bytes(9_000_000)].pack("m0"))
      client = connect(url, protocols: [Pelton::Cable::EXTENDED])
      stream = client.socket.instance_variable_get(:@stream).tap(&:pause) # it reads nothing yet
      client.send(command: "subscribe", identifier: client.identifier(NewsChannel.name),
        history: {since: Time.now.to_i - 30})
      eventually { cable.sessions.first.socket.pending > 100_000 }
      stream.resume

      assert_equal "confirm_subscription", client.receive["type"]
      assert_equal 12_000_000, client.receive["message"].size
      assert_equal "confirm_history", client.receive["type"]
      assert_equal 0, cable.stats[:slow]
    end
  end

  def test_what_is_no_history_and_pongs
    serving do |url, cable|
      client = connect(url, protocols: [Pelton::Cable::EXTENDED])
      client.subscribe(NewsChannel.name)
      id = client.identifier(NewsChannel.name)
      client.send(command: "pong")
      [nil, 1, [], {}, {streams: []}].each do |history|
        client.send(command: "history", identifier: id, history: history)
      end
      client.send(command: "history", identifier: "{}", history: {streams: {}})
      client.send(command: "history", identifier: id, history: {streams: {"news" => 1, "filtered" => {}}})
      assert_equal "confirm_history", client.receive["type"]
      assert_equal 6, cable.stats[:refused]

      plain = connect(url)
      plain.subscribe(NewsChannel.name)
      plain.send(command: "history", identifier: id, history: {streams: {}})
      plain.send(command: "pong")
      plain.subscribe(ECHO)
      assert_equal 8, cable.stats[:refused]
    end
  end

  class NeverChannel < Pelton::Cable::Channel
    def subscribed = params[:wait] && sleep

    def wait = sleep

    def now = transmit("now")
  end

  class NeverConnection < Pelton::Cable::Connection
    def connect = sleep
  end

  def test_what_never_returns_ends
    reported = []
    Pelton.on_error { |error, _| reported << error.class }
    serving(timeout: 0.05) do |url, cable|
      client = connect(url)

      client.send(command: "subscribe", identifier: client.identifier(NeverChannel.name, wait: true), retry: true)
      assert_equal %w[retry_subscription confirm_subscription],
        [client.receive["type"], client.subscribe(NeverChannel.name)]
      %w[wait now].each { |action| client.perform(NeverChannel.name, action) }

      assert_equal "now", client.receive["message"]
      client.perform(NeverChannel.name, "wait")
      client.socket.close
      eventually("the end of the connection") { cable.stats[:connections].zero? }

      assert_equal [Pelton::TimeoutError] * 2, reported, "of each place one"
      assert_equal 3, cable.stats[:errors], "of each place one"
    end
    serving(timeout: 0.05, connecting: 1, connection: NeverConnection) do |url, _|
      clients = Array.new(2) { CableClient::Client.new(url) }

      assert_equal [nil, nil], clients.map(&:receive)
    end
  ensure
    Pelton.on_error
  end

  # Each byte comes in a piece of its own, which the server's limits of memory must not care about.
  def test_commands_that_come_byte_by_byte
    serving do |url, cable|
      socket = TCPSocket.new("127.0.0.1", URI(url).port)
      socket.write(WebSocketPeer.handshake("Sec-WebSocket-Protocol: actioncable-v1-json\r\n"))
      text = JSON.generate({command: "subscribe", identifier: JSON.generate({channel: ECHO})})
      WebSocketPeer.encode(0x81, text.bytesize, text, mask: true).each_byte { |byte| socket.write(byte.chr) }
      received = +""
      received << socket.readpartial(1000) until received.include?("confirm_subscription")

      assert_equal 1, cable.stats[:subscriptions]
    ensure
      socket&.close
    end
  end

  def test_errors_of_channels_concern_nobody_else
    serving do |url, cable|
      client = connect(url)
      reports = Pelton::Test.unrescued do
        client.send(command: "subscribe", identifier: id = client.identifier(FailingChannel.name), retry: true)
        assert_equal({"identifier" => id, "type" => "retry_subscription"}, client.receive)
        client.subscribe(ECHO)
        client.perform(ECHO, "fail")
        client.perform(ECHO, "echo", {n: 1})
        assert_equal 1, client.receive["message"]
      end

      assert_equal [%w[no no], 2, 0, 0],
        [reports.map(&:message), *cable.stats.values_at(:errors, :rejected), cable.streams.size]
    end
  end

  # Which would be for good: a busy database is free a moment later.
  def test_an_error_is_no_rejection
    serving do |url, cable|
      client = connect(url)
      reports = Pelton::Test.unrescued do
        client.send(command: "subscribe", identifier: client.identifier(FailingChannel.name)) &&
          assert_equal("subscription_failed", client.receive["reason"])
      end
      assert_nil client.receive
      assert_equal 1011, client.socket.close_code
      assert_equal 1, reports.size
      assert_equal 0, cable.stats[:rejected]
    end
  end

  class DoubtfulConnection < Pelton::Cable::Connection
    def authorized? = raise("no database")
  end

  def test_an_error_of_the_question_whether_a_client_may_stay
    serving(connection: DoubtfulConnection) do |url, cable|
      client = connect(url)
      Pelton::Test.unrescued do
        client.send(command: "subscribe", identifier: client.identifier(ECHO), retry: true)
        assert_equal "retry_subscription", client.receive["type"]
        assert_equal 0, cable.stats[:unauthorized]
      end
    end
  end

  def test_errors_that_a_client_provokes_end_its_connection_and_are_reported_once
    serving do |url, cable|
      client = connect(url)
      client.subscribe(ECHO)
      reports = Pelton::Test.unrescued do
        101.times { client.perform(ECHO, "fail") }
        assert_equal ["too_many_errors", true], client.receive.values_at("reason", "reconnect")
        assert_nil client.receive
      end

      assert_equal 1011, client.socket.close_code
      assert_equal ["no"], reports.map(&:message)
      assert_operator cable.stats[:errors], :>=, 100
    end
  end
end
