# frozen_string_literal: true

require_relative "../../support/http/http2_peer"

# What RFC 9113 forbids gets the error that it names: section 5 of streams, 6 of frames, 8 of requests.
class Http2ErrorsTest < PeltonTest
  include Http2Peers

  F = Http2Peer

  # What ends the connection: {what is sent behind the preface => the error of GOAWAY}.
  CONNECTION = {
    "DATA on stream 0 (6.1)" => [F.frame(:data, 0, "a"), :protocol_error],
    "DATA with more padding than payload (6.1)" => [F.request(1,
      ended: false) + F.frame(:data, 1, "\x05a", flags: F::PADDED), :protocol_error],
    "HEADERS on stream 0 (6.2)" => [F.request(0), :protocol_error],
    "HEADERS on an even stream (5.1.1)" => [F.request(2), :protocol_error],
    "HEADERS with more padding than payload (6.2)" => [F.frame(:headers, 1, "\x40a", flags: F::PADDED | F::END_HEADERS),
      :protocol_error],
    "RST_STREAM on stream 0 (6.4)" => [F.frame(:rst_stream, 0, "\0\0\0\x08"), :protocol_error],
    "RST_STREAM of an idle stream (5.1)" => [F.frame(:rst_stream, 1, "\0\0\0\x08"), :protocol_error],
    "RST_STREAM of another length (6.4)" => [F.request(1) + F.frame(:rst_stream, 1, "\0\0\0"), :frame_size_error],
    "SETTINGS on a stream (6.5)" => [F.frame(:settings, 1), :protocol_error],
    "SETTINGS that acknowledge with a payload (6.5)" => [F.frame(:settings, 0, "\0\1\0\0\0\0", flags: F::ACK),
      :frame_size_error],
    "SETTINGS of another length (6.5)" => [F.frame(:settings, 0, "\0\1\0"), :frame_size_error],
    "ENABLE_PUSH of neither 0 nor 1 (6.5.2)" => [F.settings(2 => 2), :protocol_error],
    "INITIAL_WINDOW_SIZE beyond the most (6.5.2)" => [F.settings(4 => 0x80000000), :flow_control_error],
    "MAX_FRAME_SIZE below the least (6.5.2)" => [F.settings(5 => 1000), :protocol_error],
    "PUSH_PROMISE of a client (8.4)" => [F.request(1,
      ended: false) + F.frame(:push_promise, 1, "\0\0\0\2", flags: F::END_HEADERS), :protocol_error],
    "PING on a stream (6.7)" => [F.frame(:ping, 1, "12345678"), :protocol_error],
    "PING of another length (6.7)" => [F.frame(:ping, 0, "1234"), :frame_size_error],
    "GOAWAY on a stream (6.8)" => [F.frame(:goaway, 1, "\0" * 8), :protocol_error],
    "WINDOW_UPDATE of 0 on the connection (6.9)" => [F.frame(:window_update, 0, "\0\0\0\0"), :protocol_error],
    "WINDOW_UPDATE of another length (6.9)" => [F.frame(:window_update, 0, "\0\0\1"), :frame_size_error],
    "WINDOW_UPDATE beyond the most (6.9.1)" => [F.frame(:window_update, 0, "\x7f\xff\xff\xff"), :flow_control_error],
    "CONTINUATION without HEADERS (6.10)" => [F.frame(:continuation, 1, "", flags: F::END_HEADERS), :protocol_error],
    "another frame within a head (6.10)" => [F.frame(:headers, 1,
      Hpack.block(":method" => "GET")) + F.frame(:ping, 0, "12345678"), :protocol_error],
    "a block that HPACK cannot read (4.3)" => [F.frame(:headers, 1, "\xff\xff\xff\xff\xff", flags: F::END_HEADERS),
      :compression_error],
    "a frame that is too long (4.2)" => [F.request(1, ended: false) + F.frame(:data, 1, "a" * 16_385),
      :frame_size_error]
  }.freeze

  CONNECTION.each do |what, (bytes, error)|
    define_method("test_connection_error_#{what}") do
      serving(HELLO) { assert_equal error, http2.write(bytes).end_of_connection }
    end
  end

  # What ends a stream: {the request's fields => the error of RST_STREAM}.
  FIELDS = [[":method", "GET"], [":scheme", "http"], [":path", "/"], [":authority", "h"]].freeze
  STREAM = {
    "a name with a capital (8.2.1)" => [*FIELDS, %w[X-One 1]],
    "a name with a space (8.2.1)" => [*FIELDS, ["x one", "1"]],
    "a name with a colon (8.2.1)" => [*FIELDS, ["x:one", "1"]],
    "an empty name (8.2.1)" => [*FIELDS, ["", "1"]],
    "a value with CR and LF (8.2.1)" => [*FIELDS, ["x-one", "1\r\nx-two: 2"]],
    "a value with LF (8.2.1)" => [*FIELDS, ["x-one", "1\nx-two: 2"]],
    "a value with NUL (8.2.1)" => [*FIELDS, ["x-one", "1\0"]],
    "a value that begins with a space (8.2.1)" => [*FIELDS, ["x-one", " 1"]],
    "connection (8.2.2)" => [*FIELDS, %w[connection close]],
    "keep-alive (8.2.2)" => [*FIELDS, %w[keep-alive 5]],
    "proxy-connection (8.2.2)" => [*FIELDS, %w[proxy-connection close]],
    "upgrade (8.2.2)" => [*FIELDS, %w[upgrade x]],
    "transfer-encoding (8.2.2)" => [*FIELDS, %w[transfer-encoding chunked]],
    "te other than trailers (8.2.2)" => [*FIELDS, %w[te gzip]],
    "no method (8.3.1)" => FIELDS - [FIELDS[0]],
    "no scheme (8.3.1)" => FIELDS - [FIELDS[1]],
    "no path (8.3.1)" => FIELDS - [FIELDS[2]],
    "an empty path (8.3.1)" => FIELDS - [FIELDS[2]] + [[":path", ""]],
    "no authority and no host (8.3.1)" => FIELDS - [FIELDS[3]],
    "a method twice (8.3)" => [FIELDS[0], *FIELDS],
    "a pseudo-header behind a field (8.3)" => [*FIELDS[0, 3], %w[x-one 1], FIELDS[3]],
    "a pseudo-header of responses (8.3)" => [*FIELDS, [":status", "200"]],
    "an unknown pseudo-header (8.3)" => [*FIELDS, [":other", "1"]],
    "another host than the authority (8.3.1)" => [*FIELDS, %w[host other]],
    "an authority with a path" => [*FIELDS[0, 3], [":authority", "h/x"]],
    "an authority with a user" => [*FIELDS[0, 3], [":authority", "user@h"]],
    "a method with a space" => [[":method", "GET /x HTTP/1.1"], *FIELDS[1..]],
    "a path with a space" => [*FIELDS[0, 2], [":path", "/ HTTP/1.1"], FIELDS[3]],
    "a path with CR and LF" => [*FIELDS[0, 2], [":path", "/\r\nx: y"], FIELDS[3]],
    "a path that is none" => [*FIELDS[0, 2], [":path", "x"], FIELDS[3]],
    "two lengths" => [*FIELDS, %w[content-length 1], %w[content-length 1]],
    "a malformed length" => [*FIELDS, %w[content-length +1]],
    "a length without a body (8.1.1)" => [*FIELDS, %w[content-length 5]]
  }.freeze

  STREAM.each do |what, fields|
    define_method("test_stream_error_#{what}") do
      called = false
      serving(->(_env) { called = [200, {}, []] }, lint: false) do
        client = http2
        client.frame(:headers, 1, Hpack.block(fields), flags: F::END_HEADERS | F::END_STREAM)

        assert_equal :protocol_error, client.response(1).error
        assert_equal 200, client.write(F.request(3)).response(3).status, "the connection goes on"
        called = false if @server.stats[:requests] == 1
      end

      refute called
    end
  end

  def test_a_host_that_repeats_the_authority
    serving(->(env) { [200, {}, [env["HTTP_HOST"]]] }) do
      assert_equal "localhost", http2.get("/", fields: {"host" => "localhost"}).body
    end
  end

  def test_a_host_without_an_authority
    serving(->(env) { [200, {}, [env["HTTP_HOST"]]] }) do
      assert_equal "h", http2.get("/", authority: nil, fields: {"host" => "h"}).body
    end
  end

  def test_more_data_than_its_length
    serving(->(env) { [200, {}, [env["rack.input"].read]] }) do
      client = http2
      stream = client.request("/", method: "POST", fields: {"content-length" => "3"}, ended: false)
      client.frame(:data, stream, "four", flags: F::END_STREAM)

      assert_equal :protocol_error, client.response(stream).error
    end
    assert_empty reported
  end

  def test_less_data_than_its_length
    serving(->(env) { [200, {}, [env["rack.input"].read]] }) do
      client = http2
      stream = client.request("/", method: "POST", fields: {"content-length" => "3"}, ended: false)
      client.frame(:data, stream, "1", flags: F::END_STREAM)

      assert_equal :protocol_error, client.response(stream).error
    end
  end

  def test_more_data_than_the_window
    app = lambda do |env|
      sleep
      env
    end
    serving(app, stream_window: 100) do
      client = http2
      client.receive_until(:settings)
      stream = client.request("/", method: "POST", ended: false)
      client.frame(:data, stream, "a" * 101)

      assert_includes [:flow_control_error], client.response(stream).error
      @server.stop(timeout: 0)
      Pelton.stop
    end
  end

  def test_data_behind_the_end_of_a_request
    released = Queue.new
    serving(->(_env) { released.pop && [200, {}, []] }) do
      client = http2
      client.frame(:data, client.request, "more")

      assert_equal :stream_closed, client.end_of_connection
      released << true
    end
  end

  # It may have been sent before the client knew.
  def test_data_of_a_stream_that_is_gone
    serving(HELLO) do
      client = http2
      stream = client.request
      client.response(stream)
      client.frame(:data, stream, "more")

      assert_equal "hello", client.get.body
    end
  end

  def test_no_preface
    serving(HELLO) do
      client = http2(settings: nil)
      client.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r" + F.settings)

      assert_nil client.end_of_connection
    end
  end

  def test_unknown_frames_are_passed_over
    serving(HELLO) do
      client = http2
      client.frame(0xb1, 0, "unknown")

      assert_equal "hello", client.get.body
    end
  end

  def test_limits_of_a_head_are_answered
    serving(HELLO, max_target: 100, max_head: 1000, max_headers: 5) do
      client = http2

      assert_equal 414, client.get("/" + "a" * 100).status
      assert_equal 431, client.get("/", fields: {"x-one" => "1" * 1000}).status
      assert_equal 431, client.get("/", fields: (1..6).map { |number| ["x-#{number}", "1"] }).status
      assert_equal 200, client.get("/", fields: (1..4).map { |number| ["x-#{number}", "1"] }).status
    end
  end

  def test_a_body_that_is_too_long
    serving(->(env) { [200, {}, [env["rack.input"].read]] }, max_body: 10) do
      client = http2

      assert_equal 413, client.response(client.request("/", method: "POST", body: "a" * 11)).status
      assert_equal 413,
        client.response(client.request("/", method: "POST", body: "a" * 11, fields: {"content-length" => "11"})).status
      assert_equal 200, client.response(client.request("/", method: "POST", body: "a" * 10)).status
    end
  end

  def test_another_expectation
    serving(HELLO) { assert_equal 417, http2.get("/", fields: {"expect" => "x"}).status }
  end
end
