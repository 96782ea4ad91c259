# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/memcached_server"

# Hostile input over sockets; core's tests go into more detail. After each, the server still serves other clients, and
# holds nothing for the one that is gone.
class ServerBadInputTest < PeltonTest
  include MemcachedServer

  def test_a_huge_length
    assert_replies "CLIENT_ERROR bad command line format\r\nMN\r\n", "set k 0 0 4294967295\r\nmn\r\n"
    assert_replies "CLIENT_ERROR bad command line format\r\nMN\r\n", "ms k 99999999999999999999\r\nmn\r\n"
    assert_replies "SERVER_ERROR object too large for cache\r\n", "set k 0 0 2147483645\r\n#{"x" * 100_000}"
  end

  def test_a_negative_length
    assert_replies "CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\nMN\r\n", "set k 0 0 -1\r\nms k -1\r\nmn\r\n"
  end

  def test_a_line_without_end
    assert_replies "CLIENT_ERROR line too long\r\n", "set #{"x" * 100_000}"
  end

  def test_a_get_with_ten_thousand_keys
    keys = Array.new(10_000) { |number| "key#{number}" }.join(" ")

    assert_replies "STORED\r\nVALUE key5000 0 1\r\nx\r\nEND\r\nMN\r\n", "set key5000 0 0 1\r\nx\r\nget #{keys}\r\nmn\r\n"
  end

  def test_noreply_with_an_error
    assert_replies "MN\r\n", "set k x 0 1 noreply\r\nincr k x noreply\r\ntouch k x noreply\r\nmn\r\n"
    assert_replies "ERROR\r\nMN\r\n", "set k noreply\r\nmn\r\n"
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

  def test_touch_and_gat_with_times_out_of_range
    error = "CLIENT_ERROR invalid exptime argument\r\n"

    assert_replies "STORED\r\n#{error * 3}VALUE k 0 1\r\nx\r\nEND\r\n",
      "set k 0 0 1\r\nx\r\ntouch k 4294967296\r\ngat 2147483648 k\r\ngats -99999999999 k\r\nget k\r\n"
  end

  def test_incr_of_no_number
    error = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"

    assert_replies "STORED\r\n#{error * 2}", "set k 0 0 3\r\nabc\r\nincr k 1\r\nma k\r\n"
  end

  def test_incr_at_two_to_the_64th
    assert_replies "STORED\r\n1\r\n", "set k 0 0 20\r\n18446744073709551615\r\nincr k 2\r\n"
    assert_replies "STORED\r\nCLIENT_ERROR invalid numeric delta argument\r\n", "set k 0 0 1\r\n1\r\nincr k 18446744073709551616\r\n"
  end

  def test_a_cas_of_a_deleted_item
    assert_replies "STORED\r\nDELETED\r\nNOT_FOUND\r\nNF\r\n", "set k 0 0 1\r\nx\r\ndelete k\r\ncas k 0 0 1 1\r\ny\r\nms k 1 C1\r\ny\r\n"
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

  def test_flush_all_with_a_delay
    assert_replies "STORED\r\nOK\r\nVALUE k 0 1\r\nx\r\nEND\r\nOK\r\nEND\r\n", "set k 0 0 1\r\nx\r\nflush_all 100\r\nget k\r\nflush_all -1\r\nget k\r\n"
  end

  def test_the_binary_protocol
    assert_replies "CLIENT_ERROR the binary protocol is not supported\r\n", [0x80, 0x0a, 0, 0, 0, 0, 0, 0, 0].pack("CCnCCnNNQ>")
  end

  def test_a_browser
    assert_replies "", "POST / HTTP/1.1\r\nHost: localhost\r\n\r\nset k 0 0 1\r\nx\r\n"
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
