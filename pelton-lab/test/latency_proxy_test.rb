# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "pelton/lab"
require "socket"
require_relative "with_processes"

class LabLatencyProxyTest < PeltonTest
  include WithProcesses

  BYTES = Random.new(1).bytes(300_000).freeze

  def setup
    super
    @listener = TCPServer.new("127.0.0.1", 0)
  end

  def teardown
    super
    @listener.close unless @listener.closed?
  end

  # The two ends of a connection through a proxy.
  def through(*arguments)
    @port ||= @processes.serve_ruby("latency_proxy.rb", "--to", "127.0.0.1:#{@listener.addr[1]}", *arguments).last
    [TCPSocket.new("127.0.0.1", @port), @listener.accept]
  end

  def carry(*arguments)
    client, server = through(*arguments)
    writer = Thread.new do
      server.write(BYTES)
      server.close_write
    end
    client.write("request")
    client.close_write

    assert_equal "request", server.read
    assert_equal BYTES, client.read
    writer.join
  end

  def test_bytes_come_unchanged_and_in_order
    carry
  end

  def test_late_as_well
    carry("--delay", "0.005")
  end

  def test_in_chunks_as_well
    carry("--chunk", "0.002")
  end

  def test_a_half_close_is_forwarded_and_the_other_way_stays_open
    client, server = through
    client.close_write

    assert_nil server.read(1)
    server.write("still here")
    server.close

    assert_equal "still here", client.read
  end

  def test_nothing_is_forwarded_before_it_is_due
    client, server = through("--delay", "1000")
    client.write("early")

    assert_nil server.wait_readable(0.1)
  end

  def test_connections_do_not_mix
    pairs = Array.new(5) { through("--delay", "0.001") }
    pairs.each_with_index { |(client, _), n| client.write("from #{n}") }
    pairs.each_with_index { |(_, server), n| server.write("to #{n}") }

    pairs.each_with_index do |(client, server), n|
      assert_equal "from #{n}", server.readpartial(100)
      assert_equal "to #{n}", client.readpartial(100)
    end
  end

  def test_cuts_after_a_number_of_bytes_from_the_server
    client, server = through("--cut-after", "10")
    server.write("0123456789abc")

    assert_equal "0123456789", client.read(10)
    assert_raises(Errno::ECONNRESET) { client.read(1) }
    assert_raises(Errno::ECONNRESET) { server.read(1) }
  end

  def test_stalls_after_a_number_of_bytes_and_stays_open
    client, server = through("--stall-after", "10")
    server.write("0123456789abc")

    assert_equal "0123456789", client.read(10)
    assert_nil client.wait_readable(0.1)
    client.write("on")

    assert_equal "on", server.readpartial(10)
  end

  def test_changes_one_byte_of_the_servers
    client, server = through("--corrupt-at", "3")
    client.write("0123456")
    server.write("01")
    server.write("23456")
    server.close_write

    assert_equal "0122456", client.read
    assert_equal "0123456", server.readpartial(10)
  end

  def test_a_lost_connection_is_lost_at_the_other_end_and_the_proxy_serves_on
    client, server = through
    client.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
    client.close

    assert_raises(Errno::ECONNRESET) { server.read(1) }
    client, server = through
    client.write("next")

    assert_equal "next", server.readpartial(10)
  end

  def test_without_a_server_the_connection_ends
    through
    @listener.close

    assert_raises(EOFError, Errno::ECONNRESET) { TCPSocket.new("127.0.0.1", @port).readpartial(1) }
  end
end
