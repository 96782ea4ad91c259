# frozen_string_literal: true

require_relative "../helper"

class EventMachineHttpServerResponseTest < EventMachineTest
  class Connection
    attr_reader :sent, :closed

    def initialize
      @sent = +""
    end

    def send_data(data) = @sent << data

    def close_connection_after_writing = @closed = true
  end

  def setup
    @connection = Connection.new
    @response = EM::DelegatedHttpResponse.new(@connection)
  end

  def test_a_content
    @response.status = 404
    @response.content_type("text/plain")
    @response.content = "\u221A"
    @response.send_response

    assert_equal "HTTP/1.1 404 ...\r\nContent-length: 3\r\nContent-type: text/plain\r\n\r\n\u221A", @connection.sent
    assert @connection.closed
  end

  def test_a_response_without_content
    @response.keep_connection_open
    @response.send_response

    assert_equal "HTTP/1.1 200 ...\r\nContent-length: 0\r\n\r\n", @connection.sent
    refute @connection.closed
  end

  def test_cookies_and_headers_of_several_values
    @response.set_cookie("a=b", "c=d")
    @response.set_cookie("e=f")
    @response.add_set_cookie("g=h")
    @response.headers["List"] = [1, 2]
    @response.send_headers

    assert_equal ["e=f", "g=h"], @response.headers["Set-cookie"]
    assert_equal %w[Content-length:\ 0 List:\ 1 List:\ 2 Set-cookie:\ e=f Set-cookie:\ g=h],
      @connection.sent.split("\r\n").drop(1)
  end

  def test_chunks
    @response.chunk("ab")
    @response.send_headers
    @response.send_body
    @response.chunk({text: "0123456789"})
    @response.send_body
    @response.send_trailer

    assert_equal "HTTP/1.1 200 ...\r\nTransfer-encoding: chunked\r\n\r\n2\r\nab\r\na\r\n0123456789\r\n0\r\n\r\n",
      @connection.sent
  end

  def test_a_chunk_after_the_last_one_raises
    @response.chunk("")
    @response.chunk("more")

    assert_raises(RuntimeError) { @response.send_response }
  end

  def test_parts
    @response.multipart("a")
    @response.multipart({headers: {"A" => "b"}, body: "c"})
    @response.send_response
    boundary = @response.headers["Content-type"][/boundary="(.+)"/, 1]
    _, body = @connection.sent.split("\r\n\r\n", 2)

    assert_equal "\r\n--#{boundary}\r\n\r\na\r\n--#{boundary}\r\nA: b\r\n\r\nc\r\n--#{boundary}--\r\n\r\n", body
  end

  def test_a_redirect
    @response.send_redirect("http://x/")

    assert_equal "HTTP/1.1 302 ...\r\nContent-length: 0\r\nLocation: http://x/\r\n\r\n", @connection.sent
  end

  def test_it_is_sent_once
    @response.send_response

    assert_raises(RuntimeError) { @response.send_response }
    assert_raises(RuntimeError) { @response.send_content }
  end

  def test_a_header_with_a_line_end_is_refused
    @response.headers["Location"] = "/\r\nSet-Cookie: a=b"

    assert_raises(ArgumentError) { @response.send_response }
    assert_empty @connection.sent
  end

  def test_a_subclass_may_send_it_itself
    own = Class.new(EM::HttpResponse) do
      attr_reader :sent

      define_method(:send_data) { |data| (@sent ||= +"") << data }
      define_method(:close_connection_after_writing) { @sent << "closed" }
    end.new
    own.content = 5
    own.send_response

    assert_equal "HTTP/1.1 200 ...\r\nContent-length: 1\r\n\r\n5closed", own.sent
  end
end
