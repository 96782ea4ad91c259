# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/client_styles"

# Requests that are sent again, in every style.
module ClientRetriesSuite
  BUSY = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: %s\r\nContent-Length: 4\r\n\r\nbusy"

  def test_a_busy_server_is_asked_again
    with_server(busy(2)) do |client, server|
      assert_equal "GET / ", ask(client, :get, "/", retries: 2).body
      assert_equal 3, server.seen.size
    end
  end

  def test_it_is_asked_so_often_and_the_last_response_is_the_result
    with_server(busy(9)) do |client, server|
      response = ask(client, :get, "/", retries: 2)

      assert_equal [503, "busy"], [response.status, response.body]
      assert_equal 3, server.seen.size
      assert_equal 503, ask(client, :get, "/").status
      assert_equal 1, server.seen.size
    end
  end

  def test_a_connection_that_breaks
    with_server(->(request, socket) do
      if request.connection == 1
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") && :close
      else
        echo(request)
      end
    end) do |client, server|
      assert_equal "PUT / again", ask(client, :put, "/", body: "again", retries: 1).body
      assert_equal %w[again again], server.seen.map(&:body)
    end
    with_server(->(_, _) { :close }) do |client, server|
      assert_raises(Pelton::ConnectionError) { ask(client, :get, "/", retries: 1) }
      assert_equal 2, server.seen.size
    end
  end

  def test_a_request_that_may_not_be_sent_twice_is_not
    with_server(busy(9)) do |client, server|
      [[:post, {}], [:patch, {}],
        [:post, {headers: {"idempotency-key" => "1"}, body: ["once"].each}]].each do |verb, options|
        assert_equal 503, ask(client, verb, "/", retries: 2, **options).status
        assert_equal 1, server.seen.size, options.inspect
      end
    end
  end

  def test_a_post_with_a_key_may
    with_server(busy(1)) do |client, server|
      assert_equal "POST / pay",
        ask(client, :post, "/", body: "pay", headers: {"Idempotency-Key" => "1"}, retries: 2).body
      assert_equal %w[1 1], server.seen.map { |request| request.headers["idempotency-key"] }
    end
  end

  # The call would end in the meantime, or wait for long.
  def test_a_server_that_wants_more_time_than_there_is
    with_server(busy(9, 30)) do |client, server|
      assert_equal 503, ask(client, :get, "/", retries: 2, timeout: 20).status
      assert_equal 1, server.seen.size
    end
    with_server(busy(9, 3600)) { |client, _| assert_equal 503, ask(client, :get, "/", retries: 2).status }
  end

  def test_a_server_that_names_a_date
    with_server(busy(1, (Time.now - 60).httpdate)) do |client, server|
      assert_equal 200, ask(client, :get, "/", retries: 1).status
      assert_equal 2, server.seen.size
    end
  end

  # Nothing of it will change.
  def test_a_certificate_that_is_not_trusted_is_not_asked_again
    context = OpenSSL::SSL::SSLContext.new.tap do |one|
      one.add_certificate(Certificates.server.x509, Certificates.server.private_key)
    end
    server = script(context) { |request, _| echo(request) }
    inside do
      assert_raises(Pelton::TLSError) { ask(Pelton::HTTP::Client.new(server.url), :get, "/", retries: 3) }
      assert_equal 1, server.connections
    end
  end

  private

  # A server that is busy so many times.
  def busy(times, seconds = 0)
    left = times
    ->(request, _) { ((left -= 1) >= 0) ? format(BUSY, seconds) : echo(request) }
  end
end

PeltonTest.in_styles("ClientRetries", HTTPClientStyles::ALL, ClientRetriesSuite)
