# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/scripts"
require "pelton/http"

class ClientResponseTest < PeltonTest
  include HTTPScripts

  def test_headers
    response = get("Set-Cookie: a\r\nX-One: 1\r\nset-cookie: b\r\nContent-Length: 0\r\n", "")

    assert_equal %w[a b], response.headers["set-cookie"]
    assert_equal "a, b", response["Set-Cookie"]
    assert_equal "1", response["x-ONE"]
    assert_nil response["absent"]
  end

  def test_a_body_that_is_read_through_something_else
    twice = Struct.new(:connection) do
      def next_piece(deadlines) = connection.next_piece(deadlines)&.*(2)
    end
    response = get("Content-Length: 2\r\n", "ok", stream: true)
    response.read_through { |connection| twice.new(connection) }

    assert_equal "okok", response.body
  end

  # RFC 9112, section 5.2.
  def test_folded_headers
    response = get("X-One: 1\r\n 2\r\n\t3\r\nContent-Length:\r\n 2\r\n", "ok")

    assert_equal "1   2  \t3", response["x-one"]
    assert_equal "ok", response.body
  end

  def test_the_encoding_of_the_body
    {
      "text/plain" => "UTF-8", "application/json" => "UTF-8", "application/problem+json" => "UTF-8",
      "text/html; charset=ISO-8859-1" => "ISO-8859-1",
      "text/html; charset=\"utf-8\"" => "UTF-8", "image/png" => "BINARY", "text/plain; charset=nonsense" => "BINARY"
    }.each do |type, encoding|
      body = get("Content-Type: #{type}\r\nContent-Length: 2\r\n", "\xc3\xa4".b).body

      assert_equal Encoding.find(encoding), body.encoding, type
      assert_equal "\xc3\xa4".b, body.b
    end
  end

  def test_json
    response = get("Content-Type: application/json\r\nContent-Length: 13\r\n", '{"a":[1,"b"]}')

    assert_equal({"a" => [1, "b"]}, response.json)
    assert_equal({a: [1, "b"]}, response.json(symbolize_names: true))
    assert_raises(JSON::ParserError) { get("Content-Length: 2\r\n", "[i").json }
  end

  def test_a_body_that_was_read_can_be_enumerated
    response = get("Content-Length: 2\r\n", "ab")

    assert_equal ["ab"], response.each.to_a
    assert_equal "ab", response.body
    assert_same response.body, response.body
  end

  # Its connection was given back: to read on it would be to read another's response.
  def test_a_response_that_was_closed_cannot_be_read
    server = script { ok("abc") }
    Pelton.run do
      client = Pelton::HTTP::Client.new(server.url, concurrency: 1)
      closed = client.get("/", stream: true).tap(&:close)
      other = client.get("/", stream: true)
      [:body, :to_a].each do |method|
        assert_match(/closed/, assert_raises(Pelton::Error) { closed.public_send(method) }.message)
      end

      assert_equal "abc", other.body
      assert_equal 1, server.connections
    end
  end

  def test_only_101_can_be_taken_over
    assert_raises(Pelton::Error) { get("Content-Length: 0\r\n", "").upgrade }
  end

  def test_a_switch_of_protocols
    server = script do |_, socket|
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhello")
      socket.write(socket.readpartial(100))
      :close
    end
    Pelton.run do
      client = Pelton::HTTP::Client.new(server.url)
      stream, early = client.get("/", headers: {"connection" => "upgrade", "upgrade" => "echo"}, stream: true).upgrade
      stream.write("abc")

      assert_equal "hello", early + stream.read(5 - early.bytesize).to_s
      assert_equal "abc", stream.read
      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  # Whoever reads a log wants to know which request it was.
  def test_errors_begin_with_the_method_and_the_url
    {
      "Content-Length: 20000\r\n" => [Pelton::LimitError, "the body is longer than max_body (100 bytes)"],
      "Content-Encoding: gzip\r\nContent-Length: 2\r\n" => [Pelton::ProtocolError, "the body cannot be inflated"],
      "Content-Encoding: deflate\r\nContent-Length: 1\r\n" => [Pelton::ProtocolError,
        "the compressed body is cut short"],
      "Content-Length: 0\r\nLocation: /again\r\n" => [Pelton::HTTP::RedirectError, "more than 5 redirects"],
      "Content-Length: 0\r\nLocation: ftp://x/\r\n" => [Pelton::HTTP::RedirectError, "\"ftp://x/\" is not"]
    }.each do |headers, (type, text)|
      server = script do
        "HTTP/1.1 #{headers.include?("Location") ? 302 : 200} OK\r\n#{headers}\r\n" \
        "#{headers.include?("deflate") ? "\x78" : "ok"}"
      end
      error = assert_raises(type, headers) { Pelton::HTTP::Client.new(server.url, max_body: 100).get("/") }

      assert_match(%r{\AGET http://localhost:\d+/(again)?: #{Regexp.escape(text)}}, error.message)
    end
  end

  def test_inspect_is_short
    assert_match(/\A#<Pelton::HTTP::ClientResponse 200 OK http/, get("Content-Length: 0\r\n", "").inspect)
  end

  private

  def get(headers, body, **options)
    server = script { "HTTP/1.1 200 OK\r\n#{headers}\r\n#{body}" }
    Pelton::HTTP::Client.new(server.url).get("/", **options)
  end
end
