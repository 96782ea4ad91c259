# frozen_string_literal: true

require "ipaddr"
require_relative "../helper"

class EventMachineDatagramTransportTest < EventMachineTest
  def port_of(connection) = Socket.unpack_sockaddr_in(connection.get_sockname).first

  def test_datagrams_in_both_directions
    log = []
    em do
      server = EM.open_datagram_socket("127.0.0.1", 0, handler(receive_data: lambda do |data|
        log << data << Socket.unpack_sockaddr_in(get_peername).last
        send_data(data.upcase)
      end))
      EM.open_datagram_socket("127.0.0.1", 0, handler(receive_data: ->(data) { log << data && EM.stop })) do |client|
        assert_equal 5, client.send_datagram("hello", "127.0.0.1", port_of(server))
      end
    end

    assert_equal ["hello", "127.0.0.1", "HELLO"], log
  end

  def test_an_empty_datagram_is_delivered
    log = []
    em do
      server = EM.open_datagram_socket("127.0.0.1", 0, handler(receive_data: ->(data) { log << data && EM.stop }))
      EM.open_datagram_socket("127.0.0.1", 0).send_datagram("", "127.0.0.1", port_of(server))
    end

    assert_equal [""], log
  end

  def test_multicast_by_socket_options
    data = nil
    em do
      server = EM.open_datagram_socket("0.0.0.0", 0, handler(receive_data: ->(bytes) { (data = bytes) && EM.stop }))
      group = IPAddr.new("239.255.1.1").hton + IPAddr.new("127.0.0.1").hton
      server.set_sock_opt(Socket::IPPROTO_IP, Socket::IP_ADD_MEMBERSHIP, group)
      client = EM.open_datagram_socket("127.0.0.1", 0)
      client.set_sock_opt(Socket::IPPROTO_IP, Socket::IP_MULTICAST_IF, IPAddr.new("127.0.0.1").hton)
      client.send_datagram("to all", "239.255.1.1", port_of(server))
    end

    assert_equal "to all", data
  rescue Errno::ENODEV, Errno::ENETUNREACH
    skip "no multicast here"
  end

  def test_mistakes_raise
    em do
      assert_equal "no datagram socket",
        assert_raises(RuntimeError) { EM.open_datagram_socket("203.0.113.1", 0) }.message
      socket = EM.open_datagram_socket("127.0.0.1", 0)
      assert_raises(EM::ConnectionError) { socket.send_datagram("x", "nobody.invalid", 1) }
      EM.stop
    end
  end

  def test_it_is_paused_and_closed
    log = []
    em do
      EM.open_datagram_socket("127.0.0.1", 0, handler(unbind: ->(reason) { log << reason && EM.stop })) do |socket|
        assert socket.pause
        assert_predicate socket, :paused?
        assert socket.resume
        socket.send_datagram("x", "127.0.0.1", 9)
        socket.close_connection_after_writing

        assert_equal 0, socket.send_datagram("x", "127.0.0.1", 9)
      end
    end

    assert_equal [nil], log
  end

  def test_threads_may_send
    data = nil
    em do
      server = EM.open_datagram_socket("127.0.0.1", 0, handler(receive_data: ->(bytes) { (data = bytes) && EM.stop }))
      client = EM.open_datagram_socket("127.0.0.1", 0)
      port = port_of(server)
      Thread.new { client.send_datagram("from a thread", "127.0.0.1", port) }
    end

    assert_equal "from a thread", data
  end
end
