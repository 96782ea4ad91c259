# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/memcached_server"

# Hostile input over sockets; test/core/memcached_server has all of it. After each, the server still serves other
# clients, and holds nothing for the one that is gone.
class ServerBadInputTest < PeltonTest
  include MemcachedServer

  # Requests, and all replies to them.
  REPLIES = {
    "a_huge_length" => ["set k 0 0 2147483645\r\n#{"x" * 100_000}", "SERVER_ERROR object too large for cache\r\n"],
    "a_negative_length" => ["set k 0 0 -1\r\nmn\r\n", "CLIENT_ERROR bad command line format\r\nMN\r\n"],
    "a_line_without_end" => ["set #{"x" * 100_000}", "CLIENT_ERROR line too long\r\n"],
    "a_get_with_ten_thousand_keys" => ["set key5000 0 0 1\r\nx\r\n" \
      "get #{Array.new(10_000) { |number| "key#{number}" }.join(" ")}\r\nmn\r\n",
      "STORED\r\nVALUE key5000 0 1\r\nx\r\nEND\r\nMN\r\n"],
    "noreply_with_an_error" => ["set k x 0 1 noreply\r\nset k noreply\r\nmn\r\n", "ERROR\r\nMN\r\n"],
    "the_binary_protocol" => [[0x80, 0x0a, 0, 0, 0, 0, 0, 0, 0].pack("CCnCCnNNQ>"),
      "CLIENT_ERROR the binary protocol is not supported\r\n"],
    "a_browser" => ["POST / HTTP/1.1\r\nHost: localhost\r\n\r\nset k 0 0 1\r\nx\r\n", ""]
  }.freeze

  REPLIES.each do |name, (request, replies)|
    define_method("test_#{name}") { assert_replies(replies, request) }
  end

  def test_udp_is_off
    with_server do |server|
      UDPSocket.open do |socket|
        socket.connect("127.0.0.1", server.port)
        socket.write("\0\1\0\0\0\1\0\0stats\r\n")

        assert_raises(Errno::ECONNREFUSED) { socket.recv(1000) }
      end
    end
  end

  def test_an_eviction_while_a_reader_streams
    with_server(memory: 4 << 20) do |server|
      value = Random.new(3).bytes(1_000_000)
      reader, writer = Array.new(2) { Pelton.connect("127.0.0.1", server.port) }
      writer.write("set k 0 0 1000000\r\n#{value}\r\n")
      writer.gets
      reader.write("get k\r\n" * 20) # more than the kernel takes: the server is in the middle of one
      reader.gets
      8.times do |number|
        writer.write("set other#{number} 0 0 900000\r\n#{"o" * 900_000}\r\n")
        writer.gets
      end
      writer.write("get k\r\n")

      assert_equal "END\r\n", writer.gets
      assert_equal value, reader.read(1_000_000)
    end
  end

  def test_silent_clients
    with_server(max_connections: 100) do |server|
      silent = Array.new(50) { Pelton.connect("127.0.0.1", server.port) }

      assert_serves server
      silent.each(&:close)
      eventually { server.stats[:curr_connections].zero? }
    end
  end

  private

  # Sends the request as a whole and in small pieces, and expects this reply; other clients are served on.
  def assert_replies(expected, request)
    with_server do |server|
      [request.bytesize, 1000].each do |piece|
        stream = Pelton.connect("127.0.0.1", server.port)
        reply = read_reply(stream)
        send_request(stream, request, piece)

        assert_equal expected, reply.await
        assert_serves server
        Pelton.connect("127.0.0.1", server.port).tap { |other| other.write("flush_all\r\n") && other.gets }.close
      end
    end
  end

  def read_reply(stream)
    Pelton.spawn do
      reply = +""
      loop do
        reply << stream.readpartial(65_536)
      end
      reply
    rescue EOFError, Pelton::ConnectionError
      reply # the end, or a reset because the server left bytes of the request unread
    end
  end

  def send_request(stream, request, piece)
    (0...request.bytesize).step(piece) { |at| stream.write(request.byteslice(at, piece)) }
    stream.close_write
  rescue Pelton::Error
    nil
  end

  def assert_serves(server)
    client = client_of(server)

    assert client.set("serves", "others")
    assert_equal "others", client.get("serves")
    client.close
  end
end
