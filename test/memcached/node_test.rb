# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

class MemcachedNodeTest < PeltonTest
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

  def test_each_of_its_lanes_has_one
    node = self.node(lanes: 2)
    connections = Array.new(2) { |lane| node.connection(true, nil, lane) }

    refute_same(*connections)
    assert_same connections.last, node.connection(true, nil, 1)
    node.close
    assert_equal [true, true], connections.map(&:closed?)
  end

  def test_a_closed_one_is_replaced
    node = self.node
    connection = node.connection(true)
    connection._fail(Pelton::ConnectionError.new("gone"))

    refute_same connection, node.connection(true)
    assert_predicate connection, :closed?
  end

  # Threads come and go by the thousand in some servers.
  def test_the_connection_of_a_thread_that_has_ended_is_closed
    node = self.node
    connections = Array.new(3) { Thread.new { node.connection(true) }.value }
    node.connection(true)

    assert_equal [true] * 3, connections.map(&:closed?)
  end

  # A client that the parent has made and used: a reply to one must not reach the other.
  def test_a_child_has_connections_of_its_own
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

  def test_one_that_could_not_be_connected_is_closed
    assert_predicate node(free_port).connection(true), :closed?
  end

  def test_in_a_reactor_it_is_connected_meanwhile
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

  def test_close_closes_all_and_is_for_ever
    node = self.node
    connections = [node.connection(true), Thread.new { node.connection(true) }.value]
    node.close

    assert_equal [true, true], connections.map(&:closed?)
    assert_raises(Pelton::ClosedError) { node.connection(true) }
    node.close
  end
end
