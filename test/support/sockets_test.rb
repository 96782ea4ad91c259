# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "certificates"
require_relative "sockets"

class SocketsTest < PeltonTest
  include Sockets

  def test_the_answer_of_a_tcp_and_of_a_unix_socket_up_to_its_end
    Dir.mktmpdir do |folder|
      [TCPServer.new("127.0.0.1", 0), UNIXServer.new("#{folder}/socket")].each do |server|
        serving(server) { |socket| socket.write(socket.gets.upcase * 2) }
        place = server.is_a?(UNIXServer) ? server.path : server.local_address.ip_port

        assert_equal "HELLO\nHELLO\n", answer_from(place, "hello\n")
      ensure
        server.close
      end
    end
  end

  def test_whether_somebody_listens
    server = TCPServer.new("127.0.0.1", port = free_port)

    assert listens?(port)
    server.close

    refute listens?(port)
  end

  def test_tls_with_a_name_and_a_session
    names = []
    context = OpenSSL::SSL::SSLContext.new.tap do |one|
      one.add_certificate(Certificates.server.x509, Certificates.server.private_key)
      one.servername_cb = ->((_, name)) { names << name && nil }
      one.max_version = :TLS1_2
      one.session_id_context = "sockets"
    end
    server = TCPServer.new("127.0.0.1", 0)
    port = server.local_address.ip_port
    secure = ->(socket) { OpenSSL::SSL::SSLSocket.new(socket, context).tap { |one| one.sync_close = true }.accept.read }
    serving(server, times: 2, &secure)
    first = tls_socket(port, name: "shop.example")
    session = first.session
    first.close
    second = tls_socket(port, name: "shop.example", session: session)

    assert_predicate second, :session_reused?
    assert_equal ["shop.example"] * 2, names
  ensure
    second&.close
    server.close
  end

  private

  def serving(server, times: 1)
    Thread.new do
      times.times do
        socket = server.accept
        yield socket
        socket.close
      end
    end
  end
end
