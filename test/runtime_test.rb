# frozen_string_literal: true

require "socket"
require_relative "test_helper"
require "pelton"
require "pelton/http"
require "pelton/http/websocket"

class RuntimeTest < PeltonTest
  def test_running_is_about_this_thread
    refute_predicate Pelton, :running?
    assert_equal [true, false], Pelton.run { [Pelton.running?, Thread.new { Pelton.running? }.value] }
  end

  def test_methods_that_need_a_running_reactor_say_so
    openers.each do |name, call|
      error = assert_raises(Pelton::NotRunningError, name, &call)

      assert_includes error.message, "Pelton.run { }", name
      assert_includes error.message, "next_tick", name
      assert_includes error.backtrace.grep(/\A#{__FILE__}/).first, ":#{call.source_location.last}:", name
    end
  end

  def test_another_thread_is_told_of_the_way_in
    Pelton.run do
      reactor = Pelton::Reactor.current
      [-> { Pelton.spawn {} }, -> { Pelton.next_tick {} }].each do |call|
        error = Thread.new { assert_raises(Pelton::NotRunningError, &call) }.value
        assert_includes error.message, "another thread's reactor takes work by its next_tick"
      end

      done = Pelton::Operation.new
      Thread.new { reactor.next_tick { done.succeed(:here) } }
      assert_equal :here, done.await
    end
  end

  # Without a block these block, so they need no reactor.
  def test_listeners_accept_and_streams_read_where_no_reactor_runs
    listener = Pelton.listen("127.0.0.1", 0)
    client = Pelton.connect("127.0.0.1", listener.port)
    client.write("x")
    client.close

    assert_equal "x", listener.accept.read
    listener.close
  end

  def test_a_missing_block_is_an_error
    assert_raises(ArgumentError) { Pelton.run }
    Pelton.run do
      assert_raises(ArgumentError) { Pelton.spawn }
      assert_raises(ArgumentError) { Pelton.next_tick }
      assert_raises(ArgumentError) { Pelton.add_timer(1) }
    end
  end

  def test_stats_count
    stats = Pelton.run { sleep(0.001) && Pelton.stats }
    assert_operator stats[:iterations], :>, 0
    assert_operator stats[:idle], :>, 0.0
    assert_includes %i[epoll poll], stats[:backend]
  end

  def test_stats_count_time_inside_run_alone
    inside = Pelton.run { Pelton.stats[:busy] }
    outside = Pelton.stats

    assert_operator outside[:busy], :>, inside
    assert_equal outside.values_at(:busy, :idle), Pelton.stats.values_at(:busy, :idle)
  end

  def test_stats_count_connections
    server = TCPServer.new("127.0.0.1", 0)
    Pelton.run do
      before = Pelton.stats[:connections]
      streams = Array.new(2) { Pelton.connect("127.0.0.1", server.addr[1]) }

      assert_equal 2, Pelton.stats[:connections] - before
      streams.each(&:close)
      assert_equal before, Pelton.stats[:connections]
    end
  ensure
    server&.close
  end

  def test_parked_fibers_have_backtraces
    Pelton.run do
      task = Pelton.spawn { sleep }
      sleep 0
      parked = Pelton::Reactor.current.parked

      assert_equal 1, parked.size
      assert_match(/#{__FILE__}:#{__LINE__ - 5}/, parked.first.backtrace.join)
      task.cancel
    end
    assert_empty Pelton::Reactor.current.parked
  end

  private

  # Everything whose blocks only a reactor calls, one a line.
  def openers
    stream = Pelton::Stream.pair.first
    server = Pelton::HTTP::Server.new(->(_env) { [200, {}, []] })
    socket = TCPServer.new("127.0.0.1", 0)
    {
      spawn: -> { Pelton.spawn {} },
      spawn_with_options: -> { Pelton.spawn(name: "x") {} },
      next_tick: -> { Pelton.next_tick {} },
      add_timer: -> { Pelton.add_timer(1) {} },
      add_periodic_timer: -> { Pelton.add_periodic_timer(1) {} },
      without_yielding: -> { Pelton.without_yielding {} },
      listen: -> { Pelton.listen("127.0.0.1", 0) {} },
      listen_unix: -> { Pelton.listen_unix("never made") {} },
      for_fd: -> { Pelton::Listener.for_fd(socket.fileno) {} },
      on_data: -> { stream.on_data {} },
      http_listen: -> { server.listen("tcp://127.0.0.1:0") },
      http_listen_fd: -> { server.listen_fd(socket.fileno) },
      http_serve: -> { server.serve(stream) },
      broadcast: -> { Pelton::HTTP::WebSocket::Room.new.broadcast("x") },
      on_message: -> { socket_without_reactor.on_message {} }
    }
  end

  def socket_without_reactor
    frames = Pelton::HTTP::WebSocketFrames.new(masked: false, limit: 100)
    Pelton::HTTP::WebSocket.new(Pelton::Stream.pair.first, frames, client: true, protocol: nil, deflate: nil,
      ping: nil, write_timeout: nil).begin
  end
end
