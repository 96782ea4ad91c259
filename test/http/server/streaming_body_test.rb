# frozen_string_literal: true

require_relative "../../support/http/peer"

# Bodies that write to a stream, and trailers.
class HTTPStreamingBodyTest < PeltonTest
  include HttpPeer

  def test_streaming_bodies
    app = lambda do |env|
      body = proc do |stream|
        stream << "a" << "b"
        stream.flush
        sleep 0.005
        stream.write("c", "d")
        stream.close
      end
      [200, {}, body]
    end
    serving(app) do
      connection = peer
      response = connection.get("/")

      assert_equal "abcd", response.body
      assert_equal "chunked", response["transfer-encoding"]
      assert_equal "abcd", connection.get("/").body
    end
  end

  def test_a_streaming_body_reads_the_request
    body = proc do |stream|
      while (part = stream.read(2))
        stream.write(part.upcase)
      end
      stream.close
    end
    serving(->(_env) { [200, {}, body] }) do
      assert_equal "ABCDE", peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\n", "abcde").response.body
    end
  end

  def test_a_streaming_body_that_goes_on_after_the_call
    body = proc do |stream|
      Pelton.add_timer(0.01) do
        stream.write("later")
        stream.close
        stream.close
      end
    end
    serving(->(_env) { [200, {}, body] }) { assert_equal "later", peer.get("/").body }
  end

  def test_trailers
    body = proc do |stream|
      stream.write("x")
      stream.finish("digest" => "1")
      stream.close
    end
    serving(->(_env) { [200, {}, body] }, lint: false) { assert_equal({"digest" => "1"}, peer.get("/").trailers) }
  end

  # The body has not ended then: whoever has rescued it may end it.
  def test_malformed_trailers_are_refused_as_a_whole
    bad = [{"a" => "b\r\nc: d"}, {"a" => "b", "c:" => "d"}, {"Content-Length" => "5"},
      {"transfer-encoding" => "chunked"}, {"host" => "h"}, [["a", "b"]], 5]
    body = proc do |stream|
      stream.write("x")
      bad.each { |trailers| assert_raises(ArgumentError, TypeError) { stream.finish(trailers) } }
      stream.finish("good" => "1")
    end
    serving(->(_env) { [200, {}, body] }, lint: false) do
      connection = peer

      2.times { assert_equal({"good" => "1"}, connection.get("/").trailers) }
    end
  end
end
