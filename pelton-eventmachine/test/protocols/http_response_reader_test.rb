# frozen_string_literal: true

require_relative "../helper"
require "pelton/eventmachine/protocols/http_response_reader"

class EventMachineHttpResponseReaderTest < EventMachineTest
  # Reads the text in pieces of several sizes. The outcome must be the same for all.
  def read(text, finish: false, **options)
    [[text.bytesize, 1].max, 1, 3].map do |size|
      reader = EM::P::HttpResponseReader.new(**options)
      text.b.scan(/.{1,#{size}}/mn) { |part| reader.receive_data(part) }
      reader.finish if finish
      [reader.state, reader.status, reader.content, reader.rest]
    end.uniq.then { |outcomes| (outcomes.size == 1) ? outcomes.first : flunk(outcomes.inspect) }
  end

  def test_a_body_of_known_length
    assert_equal [:done, 200, "abc", "next"], read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcnext")
    assert_equal [:done, 200, "", ""], read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
  end

  def test_a_chunked_body
    assert_equal [:done, 200, "helloabc", "next"],
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\n" \
        "Trailer: a\r\n\r\nnext")
  end

  def test_the_line_behind_the_last_chunk_may_be_missing
    assert_equal [:done, 200, "a", ""],
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", finish: true)
  end

  def test_a_body_until_the_end
    assert_equal [:reading, 200, "abc", ""], read("HTTP/1.0 200 OK\r\n\r\nabc")
    assert_equal [:done, 200, "abc", ""], read("HTTP/1.0 200 OK\r\n\r\nabc", finish: true)
  end

  def test_responses_without_a_body
    assert_equal [:done, 204, "", "next"], read("HTTP/1.1 204 No\r\n\r\nnext")
    assert_equal [:done, 304, "", ""], read("HTTP/1.1 304 Same\r\nContent-Length: 3\r\n\r\n")
    assert_equal [:done, 200, "", ""], read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", head: true)
  end

  def test_blank_lines_and_1xx_responses_are_skipped
    assert_equal [:done, 200, "x", ""],
      read("\r\n\r\nHTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
  end

  def test_headers
    reader = EM::P::HttpResponseReader.new
    reader.receive_data("HTTP/1.1 200 OK\r\nA: 1 \r\na:2\r\nSet-Cookie: x\r\n\r\n")

    assert_equal({"a" => %w[1 2], "set-cookie" => ["x"]}, reader.headers)
    assert_equal ["HTTP/1.1 200 OK", "A: 1 ", "a:2", "Set-Cookie: x"], reader.header_lines
    assert_equal "1.1", reader.version
  end

  def test_invalid_responses
    [
      "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n", "\r\n" * 200,
      "HTTP/1.1 200 OK\r\n#{"A: b\r\n" * 600}\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"
    ].each { |text| assert_equal :wrong, read(text).first, text[0, 60] }
  end

  def test_incomplete_responses
    ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"].each do |text|
      assert_equal :wrong, read(text, finish: true).first, text
    end
  end
end
