# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryServerTest < PeltonTest
  include Spans

  def test_a_span_for_each_request
    traced(<<~RUBY)
      ids = []
      app = lambda do |env|
        ids << env["pelton.trace_id"]
        env["pelton.web.route"] = "/posts/:id" if env["PATH_INFO"] == "/posts/7"
        raise "failed" if env["PATH_INFO"] == "/raise"
        [env["PATH_INFO"][1..].to_i.clamp(200, 599), {}, ["x"]]
      end
      serving(app) do |client|
        client.get("/posts/7?secret=1")
        client.post("/503")
        client.get("/raise")
        client.request("PROPFIND", "/404%ff")
      end
      servers = spans.select { |one| one.kind == :server }
      check(servers.map(&:name), ["GET /posts/:id", "POST", "GET", "HTTP"])
      check(servers.map { |one| one.attributes["http.response.status_code"] }, [200, 503, 500, 404])
      check(servers.map { |one| one.attributes["http.request.method"] }, %w[GET POST GET _OTHER])
      check(servers.map { |one| one.status.ok? || one.status.code }, [true, 2, 2, true])
      check(servers[1].attributes["error.type"], "503")
      check(servers[2].events&.map { |event| event.attributes["exception.message"] }, ["failed"])
      check(servers[0].attributes.slice("url.path", "url.scheme", "http.route", "network.protocol.version"),
        {
          "url.path" => "/posts/7",
          "url.scheme" => "http",
          "http.route" => "/posts/:id",
          "network.protocol.version" => "1.1"
        })
      check(ids, servers.map(&:hex_trace_id))
    RUBY
  end

  def test_the_client_s_trace_goes_on
    traced(<<~RUBY)
      serving(->(_env) { [200, {}, ["x"]] }) do |client|
        peer = TCPSocket.new("127.0.0.1", client.base.port)
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        peer.write("GET / HTTP/1.1\\r\\nHost: x\\r\\nTraceparent: \#{parent}\\r\\n\\r\\n")
        peer.write("GET / HTTP/1.1\\r\\nHost: x\\r\\nTraceparent: 00-garbage\\r\\nConnection: close\\r\\n\\r\\n")
        peer.read
      end
      check([spans[0].hex_trace_id, spans[0].hex_parent_span_id], %w[0af7651916cd43dd8448eb211c80319c b7ad6b7169203331])
      check(spans[1].parent_span_id, OpenTelemetry::Trace::INVALID_SPAN_ID)
    RUBY
  end

  # A span ends with its response, whoever gives that.
  def test_deferred_responses_and_clients_that_leave
    traced(<<~RUBY)
      app = lambda do |env|
        if env["PATH_INFO"] == "/later"
          Pelton.next_tick { env["async.callback"].call([204, {}, []]) }
          throw :async
        end
        [200, {}, ->(stream) { loop { stream.write("x" * 10_000) && sleep(0.001) } }]
      end
      serving(app) do |client|
        client.get("/later")
        peer = TCPSocket.new("127.0.0.1", client.base.port)
        peer.write("GET /left HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        peer.readpartial(100)
        peer.close
        sleep 0.001 until spans.count { |one| one.kind == :server } == 2
      end
      later, left = spans.select { |one| one.kind == :server }
      check(later.attributes["http.response.status_code"], 204)
      check([left.attributes["url.path"], left.status.code, left.attributes["error.type"]],
        ["/left", 2, "Pelton::ClosedError"])
    RUBY
  end
end
