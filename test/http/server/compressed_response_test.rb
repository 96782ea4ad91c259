# frozen_string_literal: true

require "zlib"
require_relative "../../support/http/http2_peer"

# Servers with `gzip true`.
class HTTPCompressedResponseTest < PeltonTest
  include HttpPeer

  TEXT = ("Some words that come again.\n" * 100).freeze
  GZIP = "Accept-Encoding: gzip\n"
  APP = ->(_env) { [200, {"content-type" => "text/plain", "etag" => '"a"'}, [TEXT]] }

  def test_only_clients_that_take_it_get_it_compressed
    serving(APP, gzip: true) do
      connection = peer
      gzip, plain = connection.get("/", GZIP), connection.get("/")

      assert_equal TEXT, Zlib.gunzip(gzip.body)
      assert_equal "gzip", gzip["content-encoding"]
      assert_equal 'W/"a"', gzip["etag"]
      assert_equal TEXT, plain.body
      assert_equal "accept-encoding", plain["vary"]
    end
  end

  def test_it_is_off_by_default
    serving(APP) { assert_equal TEXT, peer.get("/", GZIP).body }
  end

  def test_by_http_2
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
    serving(APP, gzip: true) do
      assert_equal TEXT, Zlib.gunzip(Http2Peer.new(peer.io).get("/", fields: {"accept-encoding" => "gzip"}).body)
    end
  end

  # The cache's key has Accept-Encoding.
  def test_a_public_response_is_compressed_once
    calls = 0
    app = lambda do |_env|
      calls += 1
      [200, {"content-type" => "text/plain", "cache-control" => "public, max-age=60"}, [TEXT]]
    end
    serving(app, gzip: true, cache: 1 << 20) do
      connection = peer
      bodies = [GZIP, GZIP, "", ""].map { |header| connection.get("/", header).body }

      assert_equal TEXT, Zlib.gunzip(bodies[1])
      assert_equal bodies[0], bodies[1]
      assert_equal [TEXT, TEXT], bodies.last(2)
      assert_equal 2, calls
    end
  end

  def test_a_part_arrives_when_it_is_written
    more = Pelton::Semaphore.new(1)
    more.acquire
    parts = Enumerator.new do |yielder|
      yielder << "first"
      more.acquire
      yielder << "second"
    end
    serving(->(_env) { [200, {"content-type" => "text/plain"}, parts] }, gzip: true) do
      io = peer.say("GET / HTTP/1.1\nHost: localhost\n#{GZIP}Connection: close\n\n").io
      received = +""
      inflate = Zlib::Inflate.new(Zlib::MAX_WBITS + 16)
      received << io.gets("\r\n") until received.end_with?("\r\n\r\n")
      part = io.read(io.gets("\r\n").to_i(16))

      assert_equal "first", inflate.inflate(part)
      more.release
      io.gets("\r\n")

      assert_equal "second", inflate.inflate(io.read(io.gets("\r\n").to_i(16)))
    end
  end

  def test_the_application_is_shown_as_it_is
    server = Pelton::HTTP::Server.new(APP, gzip: true)

    assert_same APP, server.app
  end

  def test_an_invalid_level
    error = assert_raises(ArgumentError) { Pelton::HTTP::Server.new(APP, gzip: true, gzip_level: 10) }

    assert_equal "gzip_level: must be 1 to 9, not 10", error.message
  end
end
