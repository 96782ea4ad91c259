# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http_peer"

# Bytes that two servers could read differently: refused, and never a second request. All of the parser's cases are in
# test/core/test_http1_parser.c; here is what the server does about them.
class HTTPFramingTest < PeltonTest
  include HttpPeer

  SECOND = "GET /second HTTP/1.1\r\nHost: h\r\n\r\n"
  HEAD = "POST / HTTP/1.1\r\nHost: h\r\n"

  # name => [status, bytes]
  REFUSED = {
    "length and coding (puma CVE-2020-11076)" => [400, "#{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    "coding xchunked" => [400, "#{HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    "coding chunked, identity" => [400, "#{HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"],
    "coding twice" => [400, "#{HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    "coding with version 1.0" => [400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    "empty length (puma CVE-2023-40175)" => [400, "#{HEAD}Content-Length:\r\n\r\n"],
    "length +5" => [400, "#{HEAD}Content-Length: +5\r\n\r\nhello"],
    "length -1" => [400, "#{HEAD}Content-Length: -1\r\n\r\n"],
    "length 0x10" => [400, "#{HEAD}Content-Length: 0x10\r\n\r\n"],
    "length 5,5" => [400, "#{HEAD}Content-Length: 5,5\r\n\r\nhello"],
    "two lengths" => [400, "#{HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    "length of 20 digits" => [400, "#{HEAD}Content-Length: 99999999999999999999\r\n\r\n"],
    "bare line feeds (puma CVE-2021-41136)" => [400, "GET / HTTP/1.1\nHost: h\n\n"],
    "bare carriage return" => [400, "GET / HTTP/1.1\r\nHost: h\r\nA: b\rC: d\r\n\r\n"],
    "NUL" => [400, "GET / HTTP/1.1\r\nHost: h\r\nA: \0\r\n\r\n"],
    "folded header" => [400, "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n"],
    "space before the colon" => [400, "GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n"],
    "two hosts" => [400, "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"],
    "no host" => [400, "GET / HTTP/1.1\r\n\r\n"],
    "another version" => [505, "GET / HTTP/2.0\r\nHost: h\r\n\r\n"],
    "no HTTP" => [400, "\x16\x03\x01\x02\x00\x01\x00\r\n"],
    "expectation" => [417, "GET / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n"],
    "long target" => [414, "GET /#{"x" * 9000} HTTP/1.1\r\nHost: h\r\n\r\n"],
    "long headers" => [431, "GET / HTTP/1.1\r\nHost: h\r\nA: #{"x" * 70_000}\r\n\r\n"],
    "many headers" => [431, "GET / HTTP/1.1\r\nHost: h\r\n#{"A: b\r\n" * 101}\r\n"],
    "a head that is cut off" => [400, "GET / HTTP/1.1\r\nHos"]
  }.freeze

  REFUSED.each do |name, (status, bytes)|
    define_method("test_#{name.gsub(/\W+/, "_")}") do
      serving(->(_env) { raise "must not be called" }) do
        connection = peer
        connection.io.write(bytes.b)
        connection.io.write(SECOND) unless name.include?("cut off")
        connection.io.close_write
        response = connection.response

        assert_equal status, response.status
        assert_equal "close", response["connection"]
        assert_predicate connection, :ended?
        assert_equal 1, server.stats[:refused]
        assert_equal 0, server.stats[:requests]
      end
      assert_empty reported
    end
  end

  # The second request stands where the first one's body ends, and nowhere else.
  def test_a_body_is_no_request
    paths = []
    app = lambda do |env|
      paths << env["PATH_INFO"]
      [200, {}, []]
    end
    serving(app) do
      connection = peer
      connection.io.write("#{HEAD}Content-Length: #{SECOND.bytesize}\r\n\r\n#{SECOND}GET /third HTTP/1.1\r\nHost: h\r\n\r\n")
      2.times { connection.response }
    end
    assert_equal %w[/ /third], paths
  end

  def test_a_line_before_a_request_is_passed_over_once
    serving(HELLO) do
      assert_equal 200, peer.say("\nGET / HTTP/1.1\nHost: h\n\n").response.status
      assert_equal 400, peer.say("\n\nGET / HTTP/1.1\nHost: h\n\n").response.status
    end
  end

  def test_connect_is_the_applications_business
    serving(->(env) { [405, {"allow" => "GET"}, [env["REQUEST_METHOD"]]] }, lint: false) do
      assert_equal "CONNECT", peer.say("CONNECT a:80 HTTP/1.1\nHost: a:80\n\n").response.body
    end
  end

  # Whatever comes: the server answers something or closes, and goes on.
  def test_noise
    random = Random.new(42)
    pieces = ["GET", " ", "/", "HTTP/1.1", "\r\n", "\r", "\n", "Host: h", ":", "Content-Length: 3", "Transfer-Encoding: chunked", "0",
      "\0", "abc", "\xff".b, "POST / HTTP/1.1\r\nHost: h\r\n"]
    serving(HELLO) do
      200.times do
        connection = peer
        connection.io.write(Array.new(random.rand(1..12)) { pieces.sample(random: random).b }.join)
        connection.io.close_write
        connection.io.read
        connection.close
      end

      assert_equal 200, peer.get("/").status
    end
  end
end
