# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"
require "pelton/memcached"

class MemcachedNodeTest < PeltonTest
  include LyingMemcached

  def node(port = with_memcached, **options)
    Pelton::Memcached::Node.new(Pelton::Memcached::Address.parse("127.0.0.1:#{port}"), timeout: 10, connect_timeout: 10,
      operations: 100, bytes: 10_000, **options)
  end

  def test_a_thread_has_one_connection
    node = self.node
    connection = node.connection(true)

    assert_predicate connection, :connected?
    assert_same connection, node.connection(true)
    refute_same connection, Thread.new { node.connection(true) }.value
  end

  def test_each_connection_slot_of_a_thread_has_one
    node = self.node(slots: 2)
    connections = Array.new(2) { |slot| node.connection(true, nil, slot) }

    refute_same(*connections)
    assert_same connections.last, node.connection(true, nil, 1)
    node.close
    assert_equal [true, true], connections.map(&:closed?)
  end

  def test_a_closed_connection_is_replaced
    node = self.node
    connection = node.connection(true)
    connection._fail(Pelton::ConnectionError.new("gone"))

    refute_same connection, node.connection(true)
    assert_predicate connection, :closed?
  end

  def test_a_connection_that_the_server_closed_while_it_was_idle_is_no_failure
    FaultProxy.start(with_memcached) do |proxy|
      cache = Pelton::Memcached::Client.new("127.0.0.1:#{proxy.port}", timeout: 10, failure_limit: 1, retry_after: 100)
      3.times do
        assert_equal true, cache.set("k", "v")
        proxy.cut!
      end
      assert_equal "v", Pelton.run { cache.get("k") }
      cache.close
    end
  end

  # Some servers start and end threads by the thousand.
  def test_the_connection_of_a_thread_that_has_ended_is_closed
    node = self.node
    connections = Array.new(3) { Thread.new { node.connection(true) }.value }
    node.connection(true)

    assert_equal [true] * 3, connections.map(&:closed?)
  end

  # The client was made and used by the parent: a reply to one process must not reach the other.
  def test_a_child_opens_connections_of_its_own
    node = self.node
    connection = node.connection(true)
    reader, writer = IO.pipe
    pid = fork do
      own = node.connection(true)
      writer.write([own.equal?(connection), connection.closed?, own.connected?].inspect)
      exit!
    end
    writer.close

    assert_equal "[false, true, true]", reader.read
    Process.wait(pid)
    assert_same connection, node.connection(true)
    assert_predicate connection, :connected?
  end

  def test_a_connection_that_failed_to_connect_is_closed
    assert_predicate node(free_port).connection(true), :closed?
  end

  def test_a_server_without_meta_commands_is_down_until_it_is_replaced
    old = ->(peer) { peer.know_no_meta_commands {} }
    with_lying_memcached(old, old, ->(peer) { peer.serve }) do |address|
      node = node(address[/\d+\z/], failure_limit: 1, retry_after: 60)
      node.connection(true)
      2.times do
        assert_predicate node, :down?
        assert_match(/ is down .*does not know meta commands/, node.connection(true)._error.message)
        node.ask
      end

      refute_predicate node, :down?
      assert_predicate node.connection(true), :connected?
      node.close
    end
  end

  def test_a_server_that_does_not_answer_times_out
    with_lying_memcached(->(peer) { peer.stall }) do |address|
      assert_instance_of Pelton::TimeoutError, node(address[/\d+\z/]).connection(true, 0.05)._error
    end
  end

  def test_a_cancelled_question_closes_its_stream
    lines = Thread::Queue.new
    with_lying_memcached(->(peer) { 3.times { lines << peer.line } }) do |address|
      Pelton.run do
        task = Pelton.spawn { node(address[/\d+\z/]).connection(true) }

        assert_equal ["mn\r\n", "version\r\n"], [lines.pop, lines.pop]
        task.cancel
        assert_nil lines.pop
      end
    end
  end

  def test_in_a_reactor_connecting_goes_on_in_the_background
    port = with_memcached
    Pelton.run do
      node = node(port)
      connection = node.connection(false)

      refute_predicate connection, :connected?
      assert_same connection, node.connection(false)
      refute_same connection, node.connection(true), "must be connected at once"
      Pelton::Reactor.current.yield until connection.connected?
    end
  end

  def test_close_closes_all_connections_for_good
    node = self.node
    connections = [node.connection(true), Thread.new { node.connection(true) }.value]
    node.close

    assert_equal [true, true], connections.map(&:closed?)
    assert_raises(Pelton::ClosedError) { node.connection(true) }
    node.close
  end
end
