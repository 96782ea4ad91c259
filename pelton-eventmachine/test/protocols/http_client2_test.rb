# frozen_string_literal: true

require_relative "../helper"

class EventMachineHttpClient2Test < EventMachineTest
  OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n\r\n"

  def setup
    @asked = asked = +""
    @server = lambda do |*answers|
      handler(receive_data: lambda do |data|
        asked << data
        data.scan("HTTP/1.").size.times { send_data(answers.shift || close_connection_after_writing.to_s) }
      end)
    end
  end

  def test_a_response
    response = nil
    connected("#{OK}ok") { |http| http.get("/").callback { |value| EM.stop.then { response = value } } }

    assert_equal 200, response.status
    assert_equal "1.1", response.version
    assert_equal "ok", response.content
    assert_nil response.internal_error
    assert_equal({"content-length" => ["2"], "a" => ["b"]}, response.headers)
    assert_equal ["HTTP/1.1 200 OK", "Content-Length: 2", "A: b"], response.header_lines
  end

  def test_requests_are_pipelined
    seen = []
    connected("#{OK}1.", "#{OK}2.") do |http|
      http.get("/1").callback { |response| seen << response.content }
      http.get("/2").callback { |response| EM.stop.then { seen << response.content } }
    end

    assert_equal %w[1. 2.], seen
    assert_equal "GET /1 HTTP/1.1\r\nHost: 127.0.0.1:#{@port}\r\n\r\nGET /2 HTTP/1.1\r\n" \
      "Host: 127.0.0.1:#{@port}\r\n\r\n", @asked
  end

  def test_all_parts_of_a_request
    connected("#{OK}ok") do |http|
      http.post(uri: "/x", query_string: "a=b", authorization: "Basic x", cookie: "c", host_header: "h",
        version: "1.0", content: "abc")
        .callback { EM.stop }
    end

    assert_equal "POST /x?a=b HTTP/1.0\r\nHost: h\r\nAuthorization: Basic x\r\nCookie: c\r\n" \
      "Content-type: application/octet-stream\r\nContent-length: 3\r\n\r\nabc", @asked
  end

  def test_head_has_no_content
    content = nil
    connected(OK) { |http| http.head("/").callback { |response| EM.stop.then { content = response.content } } }

    assert_equal "", content
  end

  def test_a_closed_connection_fails_pending_requests
    failed = []
    connected("#{OK}ok") do |http|
      http.get("/").callback { failed << :no }
      2.times { |index| http.get("/#{index}").errback { failed << index }.errback { EM.stop if index == 1 } }
    end

    assert_equal [:no, 0, 1], failed
  end

  def test_an_invalid_response_closes_the_connection
    errors = []
    connected("nonsense\r\n\r\n") do |http|
      first = http.get("/")
      first.errback { errors << first.internal_error }
      second = http.get("/")
      second.errback { EM.stop.then { errors << second.internal_error << second.status } }
    end

    assert_equal [:bad_response, nil, nil], errors
  end

  def test_a_request_after_the_end_fails
    failed = false
    connected do |http|
      http.close_connection
      EM.add_timer(0.01) { http.get("/").errback { EM.stop.then { failed = true } } }
    end

    assert failed
  end

  def test_a_missing_server
    failed = false
    port = free_port
    em { EM::P::HttpClient2.connect(host: "127.0.0.1", port: port).get("/").errback { EM.stop.then { failed = true } } }

    assert failed
  end

  def test_a_port_is_a_number
    em do
      assert_raises(ArgumentError) { EM::P::HttpClient2.connect("127.0.0.1", "xxx") }
      EM.stop
    end
  end

  private

  def connected(*answers)
    em do
      @port = serve(@server.call(*answers))
      yield EM::P::HttpClient2.connect("127.0.0.1", @port)
    end
  end
end
