# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/client_styles"

# Expect: 100-continue: large bodies that a client sends only when the server wants them, in every style.
module ClientExpectSuite
  def test_a_large_body_is_sent_when_the_server_wants_it
    with_server do |client, server|
      assert_equal "POST / abcd", ask(client, :post, "/", body: "abcd", expect: 3).body
      assert_equal "POST / abc", ask(client, :post, "/", body: "abc", expect: 3).body
      assert_equal "POST / abc", ask(client, :post, "/", body: ["abc"].each, expect: 3).body
      assert_equal "POST / abcd", ask(client, :post, "/", body: "abcd", expect: nil).body

      assert_equal ["100-continue", nil, "100-continue", nil], server.seen.map { |request| request.headers["expect"] }
      assert_equal 1, server.connections
    end
  end

  def test_a_large_body_that_the_server_does_not_want
    answers = {413 => "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno", 307 => redirect(307, "/to")}
    with_server(->(request, _) { answers[request.path[1..].to_i] || echo(request) }) do |client, server|
      server.consents = false
      body = ["x"].each

      response = ask(client, :post, "/413", body: body, expect: 0, expect_timeout: 60)
      assert_equal 413, response.status
      assert_equal "no", response.body
      assert_equal({open: 0, idle: 0}, client.stats) # the server may still wait for the body
      assert_equal 307, ask(client, :post, "/307", body: body, expect: 0, expect_timeout: 60, redirects: 0).status
      assert_equal "x", body.next
    end
  end

  def test_a_server_that_does_not_answer_the_question
    with_server(->(request, socket) { echo(request.tap { request.body ||= socket.read(4) }) }) do |client, server|
      server.consents = false

      2.times do
        assert_equal "POST / abcd", ask(client, :post, "/", body: "abcd", expect: 3, expect_timeout: 0.02).body
      end
      assert_equal [["100-continue", 1], [nil, 1]],
        server.seen.map { |request| [request.headers["expect"], request.connection] }
    end
  end

  def test_a_server_that_does_not_like_the_question
    with_server(->(request, _) do
      request.headers["expect"] ? "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n" : echo(request)
    end) do |client, server|
      server.consents = false

      assert_equal "POST / abcd", ask(client, :post, "/", body: "abcd", expect: 3, expect_timeout: 60).body
      assert_equal ["100-continue", nil], server.seen.map { |request| request.headers["expect"] }
      server.consents = true
      assert_equal 417, ask(client, :post, "/", body: ["gone"].each, expect: 0, expect_timeout: 60).status
    end
  end
end

PeltonTest.in_styles("ClientExpect", HTTPClientStyles::ALL, ClientExpectSuite)
