# frozen_string_literal: true

require_relative "../helper"

class EventMachineStreamTransportTest < EventMachineTest
  ECHO = Module.new { def receive_data(data) = send_data(data) }
  REFUSED = Class.new(EM::Connection) do
    def initialize(log) = @log = log

    def unbind(reason)
      @log << reason << error?
      EM.stop
    end
  end

  def test_the_order_of_callbacks
    log = []
    type = Class.new(EM::Connection) do
      define_method(:initialize) { log << :initialize }
      define_method(:post_init) { log << send_data("a") }
      define_method(:connection_completed) { log << :completed }
      define_method(:receive_data) { |data| log << [data, data.encoding] }
      define_method(:unbind) { log << :unbind && EM.stop }
    end
    em do
      port = serve(handler(receive_data: ->(data) { send_data(data) && close_connection_after_writing }))
      EM.connect("127.0.0.1", port, type) { log << :block }
    end

    assert_equal [:initialize, 1, :block, :completed, ["a", Encoding::BINARY], :unbind], log
  end

  def test_send_data_copies_takes_anything_and_counts
    received = +""
    em do
      port = serve(handler(receive_data: ->(data) { ((received << data).size == 11) && EM.stop }))
      EM.connect("127.0.0.1", port) do |connection|
        text = +"abc"
        assert_equal 3, connection.send_data(text)
        assert_equal 3, connection.send_data(:sym)
        assert_equal 5, connection.send_data(12345)
        assert_equal 0, connection.send_data(nil)
        text.replace("xyz")
        assert_equal 11, connection.get_outbound_data_size
      end
    end

    assert_equal "abcsym12345", received
  end

  def test_close_connection_after_writing_sends_all_queued_data
    received = 0
    sent = nil
    em do
      port = serve(handler(receive_data: ->(data) { received += data.bytesize }, unbind: -> { EM.stop }))
      EM.connect("127.0.0.1", port, handler(connection_completed: lambda do
        20.times { send_data("x" * 500_000) }
        close_connection_after_writing
        sent = send_data("more")
      end))
    end

    assert_equal 10_000_000, received
    assert_equal 0, sent
  end

  def test_data_is_sent_when_it_was_closed_before_it_is_connected
    received = nil
    em do
      port = serve(handler(receive_data: ->(data) { received = data }, unbind: -> { EM.stop }))
      EM.connect("127.0.0.1", port) do |connection|
        connection.send_data("all")
        connection.close_connection_after_writing
      end
    end

    assert_equal "all", received
  end

  def test_unbind_is_never_called_inside_close_connection
    log = []
    em do
      EM.connect("127.0.0.1", serve, handler(
        connection_completed: lambda do
          close_connection
          log << :closed
        end,
        unbind: -> { log << :unbind << send_data("late") && EM.stop }
      ))
    end

    assert_equal [:closed, :unbind, -1], log
  end

  def test_the_reason_for_unbind_is_a_class
    log = []
    em { EM.connect("127.0.0.1", free_port, REFUSED, log) }

    assert_equal [Errno::ECONNREFUSED, Errno::ECONNREFUSED], log
    log.clear
    em { EM.connect("127.0.0.1", serve(handler(post_init: -> { close_connection })), REFUSED, log) }

    assert_equal [nil, false], log
  end

  def test_a_reset_is_the_reason_for_unbind
    log = []
    server = TCPServer.new("127.0.0.1", 0)
    em do
      EM.connect("127.0.0.1", server.local_address.ip_port, REFUSED, log)
      EM.defer do
        peer = server.accept
        peer.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
        peer.close
      end
    end

    assert_equal [Errno::ECONNRESET, Errno::ECONNRESET], log
  ensure
    server.close
  end

  def test_an_attempt_that_takes_too_long_fails
    log = []
    listener = Socket.new(:INET, :STREAM)
    listener.bind(Addrinfo.tcp("127.0.0.1", 0))
    listener.listen(0)
    fillers = Array.new(3) do
      Socket.new(:INET, :STREAM).tap { |one| one.connect_nonblock(listener.local_address, exception: false) }
    end
    em do
      EM.connect("127.0.0.1", listener.local_address.ip_port, REFUSED, log) do |connection|
        assert_in_delta 20.0, connection.pending_connect_timeout
        connection.pending_connect_timeout = 0.02
      end
    end

    assert_equal [Errno::ETIMEDOUT, Errno::ETIMEDOUT], log
  ensure
    [listener, *fillers].compact.each(&:close)
  end

  def test_nothing_is_sent_or_received_while_it_is_paused
    log = []
    client = nil
    em do
      port = serve(handler(receive_data: lambda do |data|
        log << data
        send_data("reply")
        next if data == "second"
        pause
        client.send_data("second")
        EM.add_timer(0.02) do
          log << paused? << get_outbound_data_size
          resume
        end
      end))
      EM.connect("127.0.0.1", port, handler(receive_data: ->(data) { log << data && EM.stop })) do |connection|
        client = connection
        connection.send_data("first")
      end
    end

    assert_equal ["first", true, 5], log.first(3)
    assert_includes ["reply", "replyreply"], (log.drop(3) - ["second"]).join
  end

  def test_only_a_paused_connection_resumes
    log = []
    em do
      port = serve(handler(receive_data: ->(data) {}))
      EM.connect("127.0.0.1", port, handler(
        connection_completed: -> { log << resume << pause << pause << resume && close_connection },
        unbind: -> { EM.stop }
      ))
    end

    assert_equal [false, true, false, true], log
  end

  def test_threads_may_send
    received = nil
    em do
      port = serve(handler(receive_data: ->(data) { (received = data) && EM.stop }))
      EM.connect("127.0.0.1", port, handler(connection_completed: -> { Thread.new { send_data("from a thread") } }))
    end

    assert_equal "from a thread", received
  end

  def test_a_thread_may_send_and_close
    received = +""
    em do
      port = serve(handler(receive_data: lambda do |_|
        EM.defer do
          send_data("all ")
          send_data("of it")
          close_connection_after_writing
        end
      end))
      EM.connect("127.0.0.1", port,
        handler(post_init: -> { send_data("request") }, receive_data: ->(data) { received << data },
          unbind: -> { EM.stop }))
    end

    assert_equal "all of it", received
  end

  def test_a_thread_may_send_and_close_before_it_is_connected
    received = +""
    em do
      port = serve(handler(receive_data: ->(data) { received << data }, unbind: -> { EM.stop }))
      client = EM.connect("127.0.0.1", port)
      Thread.new { client.send_data("early") && client.close_connection(true) }.join
    end

    assert_equal "early", received
  end

  def test_addresses_are_known_and_options_are_set
    em do
      port = serve
      EM.connect("127.0.0.1", port, handler(connection_completed: lambda do
        EM.next_tick { EM.stop }
        raise unless Socket.unpack_sockaddr_in(get_peername) == [port, "127.0.0.1"]
        raise unless Socket.unpack_sockaddr_in(get_sockname).last == "127.0.0.1"
        set_sock_opt(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, true)
        raise if get_sock_opt(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE).unpack1("i").zero?
        raise unless get_idle_time < 60
      end))
    end
  end

  def test_detach_gives_the_descriptor_to_the_program
    io = nil
    em do
      port = serve(ECHO)
      EM.connect("127.0.0.1", port,
        handler(connection_completed: -> { io = IO.for_fd(detach, "r+") }, unbind: -> { EM.stop }))
    end

    assert_equal "", io.read
  ensure
    io&.close
  end

  def test_reconnect
    log = []
    em do
      port = serve(handler(post_init: -> { close_connection }))
      EM.connect("127.0.0.1", port, handler(
        connection_completed: -> { log << :connected },
        unbind: -> { (log.size < 3) ? reconnect("127.0.0.1", port) : EM.stop }
      ))
    end

    assert_equal [:connected] * 3, log
  end
end
