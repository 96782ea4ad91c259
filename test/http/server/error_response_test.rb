# frozen_string_literal: true

require "json"
require_relative "../../support/http/peer"
require_relative "../../support/http/http2_peer"

# The server's own responses to what an application, or a client, does wrong.
class HTTPErrorResponseTest < PeltonTest
  include HttpPeer

  FAILING = ->(_env) { raise "failed" }

  def setup
    super
    reported
  end

  def test_a_line_of_text
    serving(FAILING) do
      response = peer.get("/")

      assert_equal "text/plain", response["content-type"]
      assert_equal "Internal Server Error\n", response.body
    end
  end

  # It would be reset, and might never see the response.
  def test_a_client_that_still_sends_a_byte_is_not_cut_off
    serving(HELLO) do
      connection = peer.say("no request\n\n")

      assert_equal 400, connection.response.status
      connection.say("", "x").then { 5.times { sleep 0.001 } } # the server drops it
      assert_equal 1, server.stats[:connections]
      connection.close
      eventually { server.stats[:connections].zero? }
    end
  end

  # RFC 9457.
  def test_a_problem_document_for_programs
    serving(FAILING) do
      ["application/json", "application/problem+json, application/json;q=0.9",
        "application/vnd.api+json"].each do |accept|
        response = peer.get("/", "Accept: #{accept}\n")

        assert_equal 500, response.status
        assert_equal "application/problem+json", response["content-type"], accept
        assert_equal({"title" => "Internal Server Error", "status" => 500, "detail" => "Internal Server Error"},
          JSON.parse(response.body))
      end
    end
  end

  def test_a_browser_gets_text
    serving(FAILING) do
      assert_equal "text/plain", peer.get("/", "Accept: text/html,application/json\n")["content-type"]
      assert_equal "text/plain", peer.get("/", "Accept: */*\n")["content-type"]
    end
  end

  def test_a_request_that_timed_out
    serving(->(_env) { sleep }, request_timeout: 0.01) do
      response = peer.get("/", "Accept: application/json\n")

      assert_equal({"title" => "Gateway Timeout", "status" => 504, "detail" => "the request timed out"},
        JSON.parse(response.body))
    end
  end

  def test_a_request_that_was_not_understood
    serving(FAILING) { assert_includes answer("no request\n\n"), "content-type: text/plain\r\n" }
  end

  def test_by_http_2
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
    serving(FAILING) do
      response = Http2Peer.new(peer.io).get("/", fields: {"accept" => "application/json"})

      assert_equal 500, JSON.parse(response.body).fetch("status")
    end
  end

  def test_head_has_the_length
    serving(FAILING) do
      head = peer.get("/", "Accept: application/json\n", method: "HEAD")

      assert_equal peer.get("/", "Accept: application/json\n").body.bytesize.to_s, head["content-length"]
    end
  end
end
