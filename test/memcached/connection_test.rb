# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_faults"
require_relative "../shared/memcached_fan_out_faults"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"

# Each style against servers that send wrong replies, disconnect, or are not there. (MemcachedStyles::Concurrent needs a
# server that replies.)
PeltonTest.in_styles("MemcachedConnection", MemcachedStyles::ALL - [MemcachedStyles::Concurrent], LyingMemcached,
  MemcachedFaults, MemcachedFanOutFaults)

class MemcachedConnectionStopTest < PeltonTest
  include LyingMemcached

  MISS = "EN\r\n"

  # No pending reply keeps the next run going: neither of callbacks, nor of fibers that refuse to be cancelled, nor of
  # new requests on a connection whose replies have been pending since the last run.
  def test_the_reactor_stops_while_replies_are_pending
    with_lying_memcached(->(peer) { peer.commands(1) && peer.send(MISS) && peer.stall }) do |address|
      client = Pelton::Memcached::Client.new(address)
      client.get("first")
      log = []
      _, err = capture_io do
        2.times do
          Pelton.run(grace: 0.01) do
            [client.later.get("k"), client.later.get_multi("k")].each do |one|
              one.errback { |error| log << error.class }
            end
            spawn_stubborn { client.get("k") }
            spawn_stubborn { client.get_multi("k", "l") }
            Pelton::Reactor.current.yield
            Pelton.stop
          end
        end
      end

      assert_equal [Pelton::Cancelled] * 4, log
      assert_equal 2, err.scan("2 fiber(s)").size, err
      assert_equal :ended, Pelton.run { :ended }
    end
  end

  def test_a_connection_is_closed_when_connecting_is_cancelled
    Pelton.run do
      connection = Pelton::Memcached::Connection._new("a", 10, 1000, 1)
      task = Pelton.spawn { connection.open(true) { sleep } }
      sleep 0
      task.cancel
      Pelton::Reactor.current.yield until connection.closed?

      assert_match(/interrupted/, connection._error.message)
    end
  end

  def test_the_reactor_stops_while_connecting
    with_lying_memcached(->(peer) { peer.stall }) do |address|
      client = Pelton::Memcached::Client.new(address)
      _, err = capture_io do
        Pelton.run(grace: 0.01) do
          spawn_stubborn { client.get_multi("k", "l") }
          Pelton::Reactor.current.yield
          Pelton.stop
        end
      end

      assert_includes err, "1 fiber(s)"
      assert_equal :ended, Pelton.run { :ended }
    end
  end

  private

  def spawn_stubborn
    Pelton.spawn do
      yield
    rescue Pelton::Cancelled
      retry
    end
  end
end

class MemcachedConnectionGarbageTest < PeltonTest
  # A collection sweeps step by step. Meanwhile the loop still notices that a garbage connection's server has closed it.
  # By then the objects that the connection refers to may be swept already, and an allocation may sweep the connection
  # itself.
  def test_the_server_closes_connections_that_are_garbage_but_not_swept_yet
    assert_equal "100000\n", ruby_output(<<~'RUBY', env: {"MALLOC_PERTURB_" => "165"})
      require "pelton/memcached"
      peers = []
      pages = Array.new(100_000) { |i| +"page #{i}" } # a small heap is swept at once
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) do |peer|
          peers << peer
          peer.on_data { |bytes| peer.write(bytes.start_with?("mn") ? "MN\r\nVERSION 1.6.18\r\n" : "EN\r\n") }
        end
        new_client = -> { Pelton::Memcached::Client.new("127.0.0.1:#{listener.port}") }
        5.times do
          Array.new(40) { new_client.call.tap { Array.new(2000) { +"far away" } } }.each { |client| client.get("k") }
          Array.new(100) { Fiber.new { [1].map(&:to_s) }.resume } # overwrites the stacks' old references
          GC.start(immediate_sweep: false)
          while (peer = peers.shift)
            peer.abort
            +"instead"
            Pelton::Reactor.current.yield
          end
        end
        listener.close
      end
      p pages.size
    RUBY
  end

  def test_the_error_of_an_idle_connection_that_the_server_closed
    connections = -> { ObjectSpace.each_object(Pelton::Memcached::Connection).to_a }
    Pelton.run do
      before = connections.call # of other tests
      peers = []
      listener = Pelton.listen("127.0.0.1", 0) do |peer|
        peers << peer
        peer.on_data { |bytes| peer.write(bytes.start_with?("mn") ? "MN\r\nVERSION 1.6.18\r\n" : "EN\r\n") }
      end
      client = Pelton::Memcached::Client.new("127.0.0.1:#{listener.port}")
      client.get("k")
      connection = (connections.call - before).first
      peers.each(&:abort)
      sleep 0.001 until connection.closed?

      assert_instance_of Pelton::ConnectionError, connection._error
      assert_match(/\Amemcached at 127.0.0.1:\d+: the server closed the connection|: read/, connection._error.message)
      assert_same connection._error, connection._error
      listener.close
    end
  end
end
