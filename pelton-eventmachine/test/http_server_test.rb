# frozen_string_literal: true

require_relative "helper"

class EventMachineHttpServerTest < EventMachineTest
  # Records each request, and responds with the path.
  class Handler < EM::Connection
    include EM::HttpServer

    NAMES = %i[@http_protocol @http_request_method @http_request_uri @http_path_info @http_query_string @http_headers
      @http_cookie @http_if_none_match @http_content_type @http_post_content].freeze

    class << self
      attr_accessor :requests
    end

    def post_init
      super
      no_environment_strings
    end

    def process_http_request
      self.class.requests << NAMES.to_h { |name| [name, instance_variable_get(name)] }
      answer(@http_path_info)
    end

    def answer(text)
      response = EM::DelegatedHttpResponse.new(self)
      response.content = text
      response.keep_connection_open if @http_query_string == "keep"
      response.send_response
    end
  end

  def setup
    Handler.requests = []
  end

  def test_the_request_in_instance_variables
    ask("GET /a/b?c=d HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\nIf-None-Match: e\r\nContent-Type: t\r\n\r\n")

    assert_equal [{
      "@http_protocol": "HTTP/1.1", "@http_request_method": "GET", "@http_request_uri": "/a/b",
      "@http_path_info": "/a/b",
      "@http_query_string": "c=d", "@http_headers": "Host: x\0Cookie: a=b\0If-None-Match: e\0Content-Type: t\0\0",
      "@http_cookie": "a=b", "@http_if_none_match": "e", "@http_content_type": "t", "@http_post_content": nil
    }], Handler.requests
  end

  def test_a_missing_value_is_nil
    ask("GET / HTTP/1.0\r\n\r\n")

    assert_equal({"@http_query_string": nil, "@http_headers": "\0", "@http_cookie": nil},
      Handler.requests.first.slice(:@http_query_string, :@http_headers, :@http_cookie))
  end

  def test_the_response_closes_the_connection
    assert_equal "HTTP/1.1 200 ...\r\nContent-length: 2\r\n\r\n/a",
      ask("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
    assert_equal 1, Handler.requests.size
  end

  def test_a_connection_may_stay_open
    answers = ask("GET /a?keep HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n")

    assert_equal %w[/a /b], answers.scan(/\r\n\r\n(..)/).flatten
  end

  def test_a_body_in_any_pieces
    text = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
    ask(text)
    ask(*text.scan(/.{1,4}/m))
    ask("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")

    assert_equal %w[hello] * 3, Handler.requests.map { |request| request[:@http_post_content] }
  end

  def test_the_parts_of_a_body_may_be_received
    parts = []
    taking = Class.new(Handler) do
      define_method(:post_init) { super().then { dont_accumulate_post } }
      define_method(:receive_post_data) { |data| parts << data }
    end
    taking.requests = []
    ask("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", server: taking)

    assert_equal "hello", parts.join
    assert_nil taking.requests.first[:@http_post_content]
  end

  def test_a_client_that_expects_100_gets_it
    assert_match(/\AHTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/,
      ask("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"))
  end

  def test_an_invalid_request_is_refused
    assert_match(/\AHTTP\/1.1 400 .*\r\nConnection: close\r\n/m, ask("nonsense\r\n\r\n"))
    assert_match(/\AHTTP\/1.1 400 /, ask("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"))
    assert_match(/\AHTTP\/1.1 431 /, ask("GET / HTTP/1.1\r\n#{"A: b\r\n" * 200}\r\n"))
    assert_empty Handler.requests
  end

  def test_a_body_beyond_the_limit_is_refused_before_it_arrives
    assert_match(/\AHTTP\/1.1 413 /, ask("POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n"))
  end

  def test_env_describes_the_request_by_default
    seen = nil
    environment = Class.new(EM::Connection) do
      include EM::HttpServer

      define_method(:process_http_request) do
        seen = ENV.slice("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "HTTP_COOKIE")
        close_connection
      end
    end
    ask("GET /p?q HTTP/1.1\r\n\r\n", server: environment)

    assert_equal({"REQUEST_METHOD" => "GET", "PATH_INFO" => "/p", "QUERY_STRING" => "q"}, seen)
  ensure
    %w[REQUEST_METHOD PATH_INFO QUERY_STRING REQUEST_URI].each { |name| ENV.delete(name) }
  end

  def test_a_request_that_waits_delays_no_other
    order = []
    gate = Thread::Queue.new
    waiting = Class.new(Handler) do
      define_method(:process_http_request) do
        (@http_path_info == "/slow") ? gate.pop : gate.push(true)
        order << @http_path_info
        answer("done")
      end
    end
    em do
      port = serve(waiting)
      done = 0
      %w[/slow /fast].each do |path|
        EM::P::HttpClient.request(host: "127.0.0.1", port: port, request: path).callback { EM.stop if (done += 1) == 2 }
      end
    end

    assert_equal %w[/fast /slow], order
  end

  private

  # Sends the parts one after the other, and returns the server's responses.
  def ask(*parts, server: Handler)
    answer = +""
    client = handler(
      post_init: -> { parts.each_with_index { |part, index| EM.add_timer(index * 0.002) { send_data(part) } } },
      receive_data: ->(data) { answer << data },
      unbind: -> { EM.stop }
    )
    em { EM.connect("127.0.0.1", serve(server), client) }
    answer
  end
end
