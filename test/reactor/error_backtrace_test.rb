# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../test_helper"
require "pelton"
require "pelton/http"
require "pelton/http/websocket"
require "pelton/memcached"

# Whoever waits finds the line of the call in the error's backtrace, inside and outside Pelton.run: also where the error
# was raised on another fiber.
class ErrorBacktraceTest < PeltonTest
  Client = Pelton::Memcached::Client
  NOWHERE = File.join(Dir.tmpdir, "no socket #{Process.pid}")

  # One call a line. refused: nobody listens on that port; silent: nobody answers; wrong: the answer is no protocol's.
  CALLS = {
    connect: ->(refused, _, _) { Pelton.connect("127.0.0.1", refused) },
    connect_by_name: ->(refused, _, _) { Pelton.connect("localhost", refused) },
    connect_unix: ->(*) { Pelton.connect_unix(NOWHERE) },
    connect_with_a_block: ->(refused, _, _) { Pelton.connect("127.0.0.1", refused) {}.await },
    resolve: ->(*) { Pelton::Resolver.resolve("name.invalid", 1) },
    tls: ->(_, _, wrong) { Pelton.connect("127.0.0.1", wrong, tls: {verify: false}) },
    tls_timeout: ->(_, silent, _) { Pelton.connect("127.0.0.1", silent, tls: {verify: false}, timeout: 0.05) },
    start_tls_later: ->(_, _, wrong) { Pelton.connect("127.0.0.1", wrong).later.start_tls(verify: false).await },
    read_timeout: ->(_, silent, _) { Pelton.connect("127.0.0.1", silent).gets(timeout: 0.01) },
    read_later: ->(_, silent, _) { Pelton.connect("127.0.0.1", silent).later.gets(timeout: 0.01).await },
    memcached: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").get("key") },
    memcached_unix: ->(*) { Client.new(NOWHERE).get("key") },
    memcached_name: ->(*) { Client.new("name.invalid:11211").get("key") },
    memcached_wrong: ->(_, _, wrong) { Client.new("127.0.0.1:#{wrong}").get("key") },
    memcached_timeout: ->(_, silent, _) { Client.new("127.0.0.1:#{silent}", timeout: 0.05).get("key") },
    memcached_later: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").later.get("key").await },
    memcached_with_a_block: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").get("key") {}.await },
    memcached_set: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").set("key", "value") },
    memcached_multi: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").get_multi("a", "b") },
    memcached_fetch: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").fetch("key") { raise IOError } },
    memcached_stats: ->(refused, _, _) { Client.new("127.0.0.1:#{refused}").stats },
    http: ->(refused, _, _) { Pelton::HTTP.get("http://127.0.0.1:#{refused}/") },
    http_wrong: ->(_, _, wrong) { Pelton::HTTP.get("http://127.0.0.1:#{wrong}/") },
    https_wrong: ->(_, _, wrong) { Pelton::HTTP.get("https://127.0.0.1:#{wrong}/") },
    http_timeout: ->(_, silent, _) { Pelton::HTTP::Client.new("http://127.0.0.1:#{silent}/", timeout: 0.05).get("/") },
    http_unix: ->(*) { Pelton::HTTP::Client.new("http://x/", unix: NOWHERE).get("/") },
    http_with_a_block: ->(refused, _, _) { Pelton::HTTP.get("http://127.0.0.1:#{refused}/") {}.await },
    websocket: ->(refused, _, _) { Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{refused}") },
    websocket_wrong: ->(_, _, wrong) { Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{wrong}") },
    websocket_timeout: ->(_, silent, _) { Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{silent}", timeout: 0.05) },
    websocket_with_a_block: ->(refused, _, _) { Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{refused}") {}.await },
    operation: ->(*) { Pelton::Operation.new.await(timeout: 0.01) },
    all: ->(refused, _, _) { Pelton::Deferrable.all(Client.new("127.0.0.1:#{refused}").later.get("key")).await },
    accept: ->(*) { Pelton.listen("127.0.0.1", 0).accept(timeout: 0.01) }
  }.freeze

  def setup
    super
    Pelton._observe(:inheritance, false) # values of other tests would cost a frame
    Pelton.on_error {} # where no reactor runs, the errors of calls with a block are unhandled when await raises them
    @servers = Array.new(3) { TCPServer.new("127.0.0.1", 0) }
    @ports = @servers.map { |server| server.addr[1] }
    @servers.shift.close
    @wrong = Thread.new { loop { @servers.last.accept.tap { |peer| peer.write("nonsense\r\n\r\n") }.close } }
  end

  def teardown
    @wrong.kill.join
    @servers.each(&:close)
    Pelton.on_error
    super
  end

  CALLS.each do |name, call|
    define_method("test_#{name}") { assert_line(call, error_of(call)) }
    define_method("test_#{name}_in_a_reactor") { Pelton.run { assert_line(call, error_of(call)) } }
  end

  def test_each_task_that_awaits_another_finds_its_own_line
    Pelton.run do
      failing, failing_line = Pelton.spawn { raise IOError, "in the task" }, __LINE__
      lines = Array.new(2) { [__LINE__, error_of(->(*) { failing.await })] }

      lines.each do |line, error|
        assert_includes error.backtrace.first, ":#{failing_line}:"
        assert_includes error.backtrace.join("\n"), "#{__FILE__}:#{line}:"
      end
    end
  end

  # All of them are called by the same line then.
  def test_tasks_that_have_inherited_values_find_their_own_lines
    Pelton.run do
      Pelton::Inherited[:request] = "1"
      failing, failing_line = Pelton.spawn { raise IOError, "in the task" }, __LINE__
      line, error = Pelton.spawn { [__LINE__, error_of(->(*) { failing.await })] }.await

      assert_includes error.backtrace.first, ":#{failing_line}:"
      assert_includes error.backtrace.join("\n"), "#{__FILE__}:#{line}:"
    end
  end

  # Many operations that fail by one error must not add their lines to one backtrace.
  def test_callers_do_not_share_a_backtrace
    Pelton.run do
      cache = Client.new("127.0.0.1:#{@ports.first}")
      errors = Array.new(20) { Pelton.spawn { error_of(->(*) { cache.get("key") }) } }.map(&:await)

      assert_equal [Pelton::ConnectionError], errors.map(&:class).uniq
      assert_equal 1, errors.map { |error| error.backtrace.size }.uniq.size
    end
  end

  private

  def error_of(call)
    call.call(*@ports)
  rescue => error
    error
  end

  def assert_line(call, error)
    assert_kind_of StandardError, error
    assert_includes error.backtrace.join("\n"), "#{call.source_location.join(":")}:"
  end
end
