# frozen_string_literal: true

require "pelton/memcached"
require_relative "../support/http/peer"

class NotificationsTest < PeltonTest
  include HttpPeer

  def teardown
    @subscriptions&.each { |one| Pelton::Notifications.unsubscribe(one) }
    Pelton.on_error
    super
  end

  def listen(name, ...) = (@subscriptions ||= []) << Pelton::Notifications.subscribe(name, ...)

  def test_an_event_has_name_payload_time_duration_and_error
    events = []
    listen("a") { |event| events << event }
    payload = {x: 1}
    value = Pelton::Notifications.instrument("a", payload) { (payload[:y] = 2) && :value }
    assert_raises(IOError) { Pelton::Notifications.instrument("a") { raise IOError, "no" } }
    Pelton::Notifications.instrument("b") {}

    assert_equal :value, value
    assert_equal ["a", {x: 1, y: 2}, Time, Float, nil],
      events[0].then { |one| [one.name, one.payload, one.time.class, one.duration.class, one.error] }
    assert_equal 2, events.size
    assert_equal IOError, events[1].error.class
  end

  def test_a_pattern_and_both_ends
    log = []
    listener = Object.new
    listener.define_singleton_method(:start) { |event| log << [:start, event.name, event.duration] }
    listener.define_singleton_method(:finish) { |event| log << [:finish, event.name] }
    listen(/\Aa/, listener)
    Pelton::Notifications.instrument("ab") { log << :block }
    @subscriptions.each { |one| Pelton::Notifications.unsubscribe(one) }
    Pelton::Notifications.instrument("ab") { log << :alone }

    assert_equal [[:start, "ab", nil], :block, [:finish, "ab"], :alone], log
    assert_raises(ArgumentError) { Pelton::Notifications.subscribe("a") }
  end

  # Not even where the program's own handler raises.
  def test_an_error_of_a_subscriber_never_hurts_the_operation
    reported = []
    Pelton.on_error { |error| reported << error.message }
    listen("a") { raise NotImplementedError, "broken" }
    listen("a") { |event| reported << event.name }
    assert_equal 1, Pelton.run { Pelton::Notifications.instrument("a") { 1 } }

    assert_equal %w[a broken], reported.sort
  end

  def test_tasks
    events = []
    listen("run.task") { |event| events << [event.payload[:task].name, event.error.class] }
    Pelton.run do
      Pelton.spawn(name: "one") { sleep 0.001 }.await
      Pelton.spawn(name: "two") { raise IOError }.errback {}
    end

    assert_equal [["one", NilClass], ["two", IOError]], events.reject { |name, _| name.nil? }
  end

  def test_connections
    events = []
    listen("connect.stream") { |event| events << [event.payload, event.error.class] }
    port = free_port
    assert_raises(Pelton::ConnectionError) { Pelton.connect("127.0.0.1", port) }
    TCPServer.open("127.0.0.1", port) { Pelton.connect("127.0.0.1", port).close }

    assert_equal [
      [{host: "127.0.0.1", port: port}, Pelton::ConnectionError],
      [{host: "127.0.0.1", port: port}, NilClass]
    ], events
  end
end
