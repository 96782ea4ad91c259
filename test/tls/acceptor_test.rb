# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/temporary_folder"
require_relative "../support/certificates"
require "pelton"

class TLSAcceptorTest < PeltonTest
  include TemporaryFolder

  TRUST = Pelton::TLS::Context.new(ca_file: Certificates.authority)

  def test_accept_does_not_wait_for_a_silent_clients_handshake
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h)
      silent = Pelton.connect("127.0.0.1", listener.port)
      listener.accept
      client = Pelton.spawn do
        Pelton.connect("127.0.0.1", listener.port, tls: TRUST).tap { |stream| stream.write("x\n") }
      end
      stream = listener.accept
      assert_equal "x\n", stream.gets
      stream.write("y\n")

      assert_equal "y\n", client.await.gets
      silent.close
    ensure
      listener.close
    end
  end

  def test_accept_performs_the_handshake_where_no_reactor_runs
    listener = Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h)
    client = Thread.new { Pelton.connect("127.0.0.1", listener.port, tls: TRUST).tap { |one| one.write("x\n") }.gets }
    stream = listener.accept
    assert_equal "x\n", stream.gets
    stream.write("y\n")

    assert_equal "y\n", client.value
  ensure
    listener.close
  end

  def test_failed_handshakes_are_counted_and_not_reported_as_errors
    uncaught = []
    Pelton.on_error { |error| uncaught << error }
    Pelton.run do
      served = 0
      listener = Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h, handshake_timeout: 0.05) { served += 1 }
      Pelton.connect("127.0.0.1", listener.port).close
      Pelton.connect("127.0.0.1", listener.port).write("GET / HTTP/1.0\r\n\r\n")
      silent = Pelton.connect("127.0.0.1", listener.port)
      assert_raises(EOFError, Pelton::ConnectionError) { silent.readpartial(1) }
      eventually { listener.failed_handshakes == 3 }

      assert_equal 0, served
    ensure
      listener.close
    end
    assert_empty uncaught
  ensure
    Pelton.on_error
  end

  # A caller that closes the listener and wants to lose no client waits until pending is 0.
  def test_pending_counts_handshakes_under_way
    Pelton.run do
      served = []
      listener = Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h) { |stream| served << stream }
      broken, client = Array.new(2) { Pelton.connect("127.0.0.1", listener.port) }
      eventually { listener.stats[:accepted] == 2 }
      listener.close
      assert_equal 2, listener.pending
      broken.close
      eventually { listener.pending == 1 }
      client.start_tls(TRUST, server_name: "localhost")
      eventually { listener.pending == 0 }

      assert_equal 1, served.size
      assert_equal 1, listener.failed_handshakes
    end
  end

  def test_for_fd_with_tls
    server = TCPServer.new("127.0.0.1", 0)
    server.autoclose = false
    Pelton.run do
      listener = Pelton::Listener.for_fd(server.fileno, tls: Certificates.server.to_h) do |stream|
        stream.write("x") && stream.close
      end

      assert_equal "x", Pelton.connect("127.0.0.1", listener.port, tls: TRUST).read
    ensure
      listener.close
    end
  end

  # A silent peer costs a stream, but no fiber.
  def test_pending_handshakes_take_no_fibers
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h) { nil }
      before = Pelton.stats[:workers] # other tests have left workers in the pool
      silent = Array.new(100) { Pelton.connect("127.0.0.1", listener.port) }
      eventually { listener.stats[:accepted] == 100 }

      assert_operator Pelton.stats[:parked], :<, 50
      assert_operator Pelton.stats[:workers] - before, :<, 50
    ensure
      listener.close
      silent&.each(&:close)
      Pelton.stop
    end
  end

  def test_a_unix_socket_with_tls
    Pelton.run do
      listener = Pelton.listen_unix("#{@folder}/socket", tls: Certificates.server.to_h) do |stream|
        stream.write("x") && stream.close
      end
      stream = Pelton.connect_unix("#{@folder}/socket").start_tls(TRUST, server_name: "localhost")

      assert_equal "x", stream.read
      listener.close
    end
  end
end
