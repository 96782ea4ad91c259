# frozen_string_literal: true

require_relative "helper"
require "tmpdir"

class EventMachineConnectingTest < EventMachineTest
  HELLO = Module.new do
    def post_init
      send_data("hello")
      close_connection_after_writing
    end
  end

  def test_an_unknown_name_raises
    em do
      error = assert_raises(EM::ConnectionError) { EM.connect("nobody.invalid", 80) }
      assert_match(/unable to resolve address:.*not known/, error.message)
      error = assert_raises(EM::ConnectionError) { EM.bind_connect("nobody.invalid", nil, "127.0.0.1", 80) }
      assert_match(/invalid bind address:.*not known/, error.message)
      EM.stop
    end
  end

  def test_a_port_in_use_raises
    em do
      port = serve
      error = assert_raises(RuntimeError) { EM.start_server("127.0.0.1", port) }

      assert_equal "no acceptor (port is in use or requires root privileges)", error.message
      EM.stop
    end
  end

  def test_names_addresses_and_paths
    log = []
    receive = handler(receive_data: ->(data) { log << data && (EM.stop if log.size == 4) })
    Dir.mktmpdir do |folder|
      path = "#{folder}/socket"
      em do
        EM.start_server(path, HELLO)
        port = serve(HELLO)
        EM.connect(path, receive)
        EM.connect_unix_domain(path, receive)
        EM.connect("localhost", port.to_s, receive)
        EM.bind_connect("127.0.0.1", nil, "127.0.0.1", port, receive)
      end
    end

    assert_equal ["hello"] * 4, log
  end

  def test_ipv6
    data = nil
    em do
      signature = EM.start_server("::1", 0, HELLO)
      port = Socket.unpack_sockaddr_in(EM.get_sockname(signature)).first
      EM.connect("::1", port, handler(receive_data: ->(bytes) { (data = bytes) && EM.stop }))
    end

    assert_equal "hello", data
  rescue RuntimeError => error
    skip "no IPv6 here" if error.message.start_with?("no acceptor")
    raise
  end

  def test_an_address_that_cannot_be_used_raises
    em do
      port = serve
      assert_equal "no connection", assert_raises(RuntimeError) { EM.connect("/nowhere/at/all") }.message
      assert_equal "no unix-domain acceptor", assert_raises(RuntimeError) { EM.start_server("/nowhere/at/all") }.message
      assert_equal "invalid server or port", assert_raises(EM::ConnectionError) { EM.connect("127.0.0.1", 0) }.message
      error = assert_raises(EM::ConnectionError) { EM.bind_connect("127.0.0.1", port, "127.0.0.1", port) }
      assert_equal "couldn't bind to address", error.message
      EM.stop
    end
  end

  def test_an_attached_listening_socket_stays_the_callers
    data = nil
    server = TCPServer.new("127.0.0.1", 0)
    em do
      EM.attach_server(server, HELLO)
      EM.connect("127.0.0.1", server.local_address.ip_port, handler(receive_data: ->(bytes) {
        (data = bytes) &&
              EM.stop
      }))
    end

    assert_equal "hello", data
    assert_equal 0, server.close.to_i
  end

  def test_connecting_outside_run_raises
    assert_raises(RuntimeError) { EM.connect("127.0.0.1", 1) }
    assert_raises(RuntimeError) { EM.start_server("127.0.0.1", 0) }
  end

  def test_other_threads_may_connect
    thread = nil
    em do
      port = serve(HELLO)
      Thread.new do
        EM.connect("127.0.0.1", port, handler(connection_completed: -> { (thread = Thread.current) && EM.stop }))
      end
    end

    assert_same Thread.current, thread
  end

  def test_a_module_has_one_class
    type = EM.klass_from_handler(EM::Connection, HELLO)

    assert_same type, EM.klass_from_handler(EM::Connection, HELLO)
    assert_same EM::Connection, EM.klass_from_handler
  end
end
