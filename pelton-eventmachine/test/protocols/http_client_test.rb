# frozen_string_literal: true

require_relative "../helper"

class EventMachineHttpClientTest < EventMachineTest
  OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  def setup
    @asked = asked = +""
    @server = lambda do |answer, close = true|
      handler(receive_data: lambda do |data|
        asked << data
        send_data(answer)
        close_connection_after_writing if close
      end)
    end
  end

  def test_the_response
    assert_equal [:ok, {content: "ok", headers: ["HTTP/1.1 200 OK", "Content-Length: 2"], status: 200}], request(OK)
    assert_equal "GET / HTTP/1.1\r\nHost: 127.0.0.1:#{@port}\r\nUser-agent: Ruby EventMachine\r\n\r\n", @asked
  end

  def test_all_parts_of_a_request
    request(OK, request: "/x", query_string: "a=b", verb: "post", content: "\u221A", contenttype: "text/x",
      cookie: "c=1",
      basic_auth: {username: "u", password: "p"}, host_header: "foo.com", version: "1.0", custom_headers: {"X" => 1})

    assert_equal "POST /x?a=b HTTP/1.0\r\nHost: foo.com:#{@port}\r\nUser-agent: Ruby EventMachine\r\n" \
      "Content-type: text/x\r\nContent-length: 3\r\nCookie: c=1\r\nX: 1\r\nAuthorization: Basic dTpw\r\n\r\n" \
      "\u221A".b, @asked.b
  end

  def test_other_names_for_the_options
    request(OK, uri: "x", method: :put, content: "", content_type: "t/y")

    assert_match(/\APUT \/x HTTP.*^Content-type: t\/y\r\nContent-length: 0\r\n/m, @asked)
  end

  def test_under_tls
    answer = @server.call(OK)
    secure = Module.new do
      include answer

      define_method(:post_init) { start_tls }
    end
    response = nil
    em do
      client = EM::P::HttpClient.request(host: "127.0.0.1", port: serve(secure), ssl: true)
      client.callback { |value| EM.stop.then { response = value } }
      client.errback { raise "no response" }
    end

    assert_equal "ok", response[:content]
  end

  def test_it_need_not_wait_for_the_server_to_close
    assert_equal "ok", request(OK, close: false).last[:content]
  end

  def test_a_response_without_a_length_ends_with_the_connection
    assert_equal "all of it", request("HTTP/1.0 404 No\r\n\r\nall of it").last[:content]
  end

  def test_no_response_is_a_failure
    assert_equal [:failed, {status: 0}], request("")
    assert_equal [:failed, {status: 0}], request("nonsense\r\n\r\n", close: false)
    assert_equal [:failed, {status: 0}], request("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok")
  end

  def test_no_server_is_a_failure
    assert_equal [:failed, {status: 0}], request(OK, port: free_port)
  end

  def test_content_beyond_the_limit_raises
    error = assert_raises(RuntimeError) { request(OK, verb: "post", content: "x" * (20 * 1024 * 1024 + 1)) }

    assert_match(/oversized/, error.message)
  end

  def test_a_header_with_a_line_end_is_refused
    assert_raises(ArgumentError) { request(OK, request: "/ HTTP/1.1\r\nX: y") }
    assert_empty @asked
  end

  private

  def request(answer, close: true, **args)
    outcome_of do
      @port = serve(@server.call(answer, close))
      EM::P::HttpClient.request({host: "127.0.0.1", port: @port}.merge(args))
    end
  end
end
