# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryClientTest < PeltonTest
  include Spans

  def test_a_span_for_each_request_that_is_sent
    traced(<<~RUBY)
      app = ->(env) do
        (env["PATH_INFO"] == "/old") ? [302, {"location" => "/new"}, []] : [404, {}, [env["HTTP_TRACEPARENT"]]]
      end
      body = nil
      serving(app) { |client| body = client.get("/old?token=secret").body }
      first, second = spans.select { |one| one.kind == :client }
      check([first, second].map { |one| one.attributes["url.full"][/\\d(\\/.*)/, 1] }, %w[/old /new])
      check([first, second].map { |one| one.attributes["http.response.status_code"] }, [302, 404])
      check([first, second].map { |one| one.status.code }, [1, 2])
      check(body.split("-")[1..2], [second.hex_trace_id, second.hex_span_id])
      inner = spans.select { |one| one.kind == :server }.map(&:parent_span_id)
      check(inner, [first, second].map(&:span_id))
    RUBY
  end

  def test_a_server_that_cannot_be_reached
    traced(<<~RUBY)
      client = Pelton::HTTP::Client.new("http://ada:secret@127.0.0.1:#{free_port}/")
      begin
        client.get("/")
      rescue Pelton::ConnectionError
      end
      check(span("GET").status.code, 2)
      check(span("GET").events.map { |event| event.attributes["exception.type"] }, ["Pelton::ConnectionError"])
      check(span("GET").attributes["url.full"].include?("secret"), false)
    RUBY
  end
end
