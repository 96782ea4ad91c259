# frozen_string_literal: true

require_relative "../test_helper"
require_relative "fault_proxy"

# The tests' own proxy, against a server that echoes.
class FaultProxyTest < PeltonTest
  def setup
    @server = TCPServer.new("127.0.0.1", 0)
    @serving = Thread.new { loop { @server.accept.then { |socket| Thread.new { echo(socket) } } } }
    @proxy = FaultProxy.start(@server.addr[1])
    @client = connect
  end

  def teardown
    @proxy.stop
    @serving.kill.join
    @server.close unless @server.closed?
  end

  def test_it_forwards_both_ways_and_half_closes
    @client.write("x" * 1_000_000)
    @client.close_write
    assert_equal "x" * 1_000_000, @client.read
    eventually("the connection's end") { @proxy.connections.zero? }
    assert_equal 1, @proxy.accepted
  end

  def test_a_cut_is_a_reset_and_the_next_connection_is_served
    assert_echo @client, "a"
    @proxy.cut!
    assert_raises(Errno::ECONNRESET) { @client.read(1) }
    assert_echo connect, "b"
  end

  def test_a_cut_after_so_many_bytes
    @proxy.cut_after(3)
    @client.write("abcdef")
    assert_equal "abc", @client.read(3)
    assert_raises(Errno::ECONNRESET) { @client.read(1) }
    assert_echo connect, "abcdef"
  end

  def test_nothing_passes_while_it_is_stalled_and_nothing_is_lost
    assert_echo @client, "a"
    @proxy.stall!
    @client.write("bc")
    assert_nil @client.wait_readable(0.05)
    @proxy.resume
    assert_equal "bc", @client.read(2)
  end

  def test_the_servers_bytes_are_corrupted
    @proxy.corrupt { |bytes| bytes.tr("a", "b") }
    @client.write("abc")
    assert_equal "bbc", @client.read(3)
    @proxy.corrupt
    assert_echo @client, "abc"
  end

  def test_replies_come_in_pieces_and_late
    @proxy.piece = 1
    @proxy.delay = 0.001
    assert_echo @client, "abcdef"
  end

  def test_a_half_open_connection_swallows_the_clients_bytes
    assert_echo @client, "a"
    @proxy.half_open!
    10.times { @client.write("x" * 1000) }
    assert_nil @client.wait_readable(0.05)
    assert_equal 1, @proxy.connections
    assert_echo connect, "b"
  end

  def test_it_goes_down_and_comes_up_on_the_same_port
    assert_echo @client, "a"
    @proxy.down!
    assert_raises(Errno::ECONNREFUSED) { connect }
    assert_raises(Errno::EADDRINUSE) { Socket.new(:INET, :STREAM).bind(Addrinfo.tcp("127.0.0.1", @proxy.port)) }
    assert_echo @client, "b"
    @proxy.up!
    assert_echo connect, "c"
  end

  def test_a_server_that_refuses_ends_the_connection
    @serving.kill.join
    @server.close
    assert_raises(Errno::ECONNRESET, EOFError) { connect.readpartial(1) } # Ruby's own connect may clear the error
  end

  private

  def connect = TCPSocket.new("127.0.0.1", @proxy.port)

  def assert_echo(client, bytes)
    client.write(bytes)
    assert_equal bytes, client.read(bytes.bytesize)
  end

  def echo(socket)
    IO.copy_stream(socket, socket)
  rescue SystemCallError
    nil # the connection was cut
  ensure
    socket.close
  end
end
