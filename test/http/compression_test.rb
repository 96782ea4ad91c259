# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require "pelton/http"

class HTTPCompressionTest < PeltonTest
  TEXT = ("<p>Some words that come again.</p>\n" * 100).freeze
  HTML = {"content-type" => "text/html; charset=utf-8"}.freeze

  # What an application's response becomes for a client.
  def respond(headers = HTML, body = [TEXT], status: 200, accept: "gzip, deflate", verb: "GET",
    level: 4, cookies: false)
    app = Pelton::HTTP::Compression.new(->(_env) { [status, headers, body] }, level: level, cookies: cookies)
    app.call({"REQUEST_METHOD" => verb, "HTTP_ACCEPT_ENCODING" => accept}.compact)
  end

  def assert_left_alone(response, body = [TEXT])
    refute response[1].key?("content-encoding"), "it is compressed"
    assert_same body, response[2]
  end

  def inflate(response)
    parts = []
    response[2].each { |part| parts << part }
    Zlib.gunzip(parts.join)
  end

  def test_a_text
    status, headers, body = response = respond(HTML.merge("content-length" => TEXT.bytesize.to_s))

    assert_equal 200, status
    assert_equal TEXT, inflate(response)
    assert_equal "gzip", headers["content-encoding"]
    assert_equal "accept-encoding", headers["vary"]
    assert_equal body.first.bytesize.to_s, headers["content-length"]
  end

  def test_the_level_is_taken
    text = Array.new(5000) { |number| "line #{number * 7919 % 5003} of the text\n" }.join
    lengths = [1, 9].map { |level| respond(HTML, [text], level: level)[2].first.bytesize }

    assert_operator lengths.first, :>, lengths.last
    assert_raises(ArgumentError) { Pelton::HTTP::Compression.new(:call.to_proc, level: 0, cookies: false) }
  end

  def test_the_application_s_headers_are_not_changed
    headers = HTML.dup
    respond(headers)

    assert_equal HTML, headers
  end

  def test_types_that_are_compressed
    %w[text/plain text/css application/json application/problem+json image/svg+xml application/javascript
      TEXT/HTML].each do |type|
      assert_equal "gzip", respond({"content-type" => type})[1]["content-encoding"], type
    end
  end

  def test_types_that_are_not
    %w[image/png application/zip video/mp4 application/octet-stream text/event-stream].each do |type|
      body = [TEXT]

      assert_left_alone respond({"content-type" => type}, body), body
    end
  end

  def test_no_type_at_all
    body = [TEXT]

    assert_left_alone respond({}, body), body
  end

  # Rack 2 allows any case.
  def test_headers_in_any_case
    _, headers, = response = respond({"Content-Type" => "text/plain", "ETag" => '"a"', "Vary" => "Cookie"})

    assert_equal TEXT, inflate(response)
    assert_equal 'W/"a"', headers["etag"]
    assert_equal "Cookie, accept-encoding", headers["vary"]
  end

  # The next client may take it, and a cache between must know.
  def test_a_client_that_takes_no_gzip
    [nil, "", "identity", "gzip;q=0", "compress;q=1.0"].each do |accept|
      _, headers, body = respond(accept: accept)

      assert_equal [TEXT], body, accept.inspect
      assert_equal "accept-encoding", headers["vary"], accept.inspect
      refute headers.key?("content-encoding"), accept.inspect
    end
  end

  def test_a_short_text
    body = ["short"]

    assert_equal body, respond(HTML, body)[2]
    refute respond(HTML, body)[1].key?("vary")
  end

  def test_1024_bytes_are_enough
    assert_equal "gzip", respond(HTML, ["a" * 1000, "b" * 24])[1]["content-encoding"]
    assert_nil respond(HTML, ["a" * 1000, "b" * 23])[1]["content-encoding"]
  end

  def test_what_speaks_of_the_content_s_bytes
    ["content-encoding", "content-range", "content-digest", "rack.hijack"].each do |name|
      body = [TEXT]

      assert_same body, respond(HTML.merge(name => "x"), body)[2], name
    end
  end

  def test_a_cache_that_must_not_transform
    body = [TEXT]

    assert_left_alone respond(HTML.merge("cache-control" => "public, no-transform"), body), body
  end

  def test_responses_without_a_content_or_with_a_part
    [204, 206, 304, 101].each { |status| assert_equal [TEXT], respond(status: status)[2], status }
  end

  def test_errors_have_texts_too
    assert_equal TEXT, inflate(respond(status: 500))
  end

  # Their length would tell of the secrets in them.
  def test_responses_that_set_cookies
    body = [TEXT]
    headers = HTML.merge("set-cookie" => "a=b")

    assert_left_alone respond(headers, body), body
    assert_equal TEXT, inflate(respond(headers, body, cookies: true))
  end

  def test_head
    _, headers, body = respond(HTML.merge("content-length" => "3500"), [TEXT], verb: "HEAD")

    assert_equal [TEXT], body
    assert_equal "3500", headers["content-length"]
    assert_equal "accept-encoding", headers["vary"]
  end

  def test_ranges_are_not_offered_of_what_is_made_for_one_client
    refute respond(HTML.merge("accept-ranges" => "bytes"))[1].key?("accept-ranges")
  end

  # Rails' bodies.
  def test_a_body_that_converts_to_an_array
    body = Struct.new(:closed) do
      def each = raise("not called")

      def to_ary = [TEXT, "end"]

      def close = self.closed = true
    end.new

    assert_equal "#{TEXT}end", inflate(respond(HTML, body))
    assert body.closed
  end

  def test_a_body_whose_parts_come_later
    response = respond(HTML.merge("content-length" => "9"), %w[one two].each)

    refute response[1].key?("content-length")
    assert_equal "onetwo", inflate(response)
  end

  def test_other_bodies
    [File.new(__FILE__), Object.new.tap { |body| body.define_singleton_method(:call) { |_stream| nil } },
      Object.new.tap do |body|
        %i[each callback].each { |name| body.define_singleton_method(name) { nil } }
      end].each do |body|
      assert_left_alone respond(HTML, body), body
    end
  end

  # Otherwise no request would run meanwhile.
  def test_a_long_text_is_compressed_by_another_thread
    text = TEXT * 100
    threads = []
    compressing = Pelton::HTTP::Deflation.method(:gzip)
    Pelton::HTTP::Deflation.stub(:gzip, ->(*arguments) { threads << Thread.current && compressing.call(*arguments) }) do
      Pelton.run do
        assert_equal text, inflate(respond(HTML, [text]))
        assert_equal TEXT, inflate(respond)
      end
    end

    refute_equal Thread.current, threads.first
    assert_equal Thread.current, threads.last
  end

  def test_odd_responses_are_the_server_s_to_refuse
    app = Pelton::HTTP::Compression.new(->(_env) { "no response" }, level: 4, cookies: false)

    assert_equal "no response", app.call({})
    assert_equal [200, nil, [TEXT]], respond(nil, [TEXT])
  end
end
