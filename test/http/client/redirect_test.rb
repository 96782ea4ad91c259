# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/client_styles"

# Redirects that a client follows, in every style.
module ClientRedirectSuite
  def test_redirects
    with_server(->(request, _) do
      (request.path == "/-1") ? echo(request) : redirect(302, "/#{request.path[1..].to_i - 1}")
    end) do |client, server|
      assert_equal "#{server.url}/-1", ask(client, :get, "/3").url.to_s
      error = assert_raises(Pelton::HTTP::RedirectError) { ask(client, :get, "/9") }

      assert_match(/more than 5 redirects/, error.message)
      assert_equal({open: 1, idle: 1}, client.stats)
      assert_equal 302, ask(client, :get, "/9", redirects: 0).status
    end
  end

  def test_what_becomes_of_the_method_and_the_body
    with_server(->(request, _) do
      request.path.start_with?("/to/") ? echo(request) : redirect(request.path[1..].to_i, "/to/#{request.path[1..]}")
    end) do |client|
      assert_equal "GET /to/301 ", ask(client, :post, "/301", body: "b").body
      assert_equal "DELETE /to/302 ", ask(client, :delete, "/302").body
      assert_equal "PUT /to/301 b", ask(client, :put, "/301", body: "b").body
      assert_equal "GET /to/303 ", ask(client, :put, "/303", body: "b").body
      assert_equal "POST /to/307 b", ask(client, :post, "/307", body: "b").body
      assert_equal "PUT /to/308 b", ask(client, :put, "/308", body: StringIO.new("b")).body
      assert_raises(Pelton::HTTP::RedirectError) { ask(client, :post, "/307", body: ["b"].each) }
      assert_equal({open: 1, idle: 1}, client.stats)
    end
  end

  def test_credentials_do_not_follow_a_redirect_to_another_origin
    with_server do |_, other|
      with_server(->(request, _) do
        redirect(302, (request.path == "/away") ? "#{other.url}/" : "/away")
      end) do |client, server|
        ask(client, :get, "/", headers: {"Authorization" => "secret", "Cookie" => "a=b", "X-Mine" => "1"})
        assert_equal %w[secret secret], server.seen.map { |request| request.headers["authorization"] }
        headers = other.seen.first.headers

        assert_equal [nil, nil, "1"], headers.values_at("authorization", "cookie", "x-mine")
        assert_equal "localhost:#{other.port}", headers["host"]
      end
    end
  end

  # It follows with what was not sent yet.
  def test_a_redirect_before_the_body_was_sent
    with_server do |_, other|
      with_server(->(_, _) { redirect(307, "#{other.url}/to") }) do |client, server|
        server.consents = false

        assert_equal "POST /to abc", ask(client, :post, "/", body: ["abc"].each, expect_timeout: 60).body
      end
    end
  end
end

PeltonTest.in_styles("ClientRedirect", HTTPClientStyles::ALL, ClientRedirectSuite)
