# frozen_string_literal: true

require_relative "../../support/http/http2_peer"

# What costs the server more than the client is bounded: CVE-2019-9511 to 9518, CVE-2023-44487, CVE-2024-27316 and the
# like.
class Http2FloodsTest < PeltonTest
  include Http2Peers

  F = Http2Peer
  OPEN = F.request(1, method: "POST", ended: false)
  LITTLE = {max_resets: 20, max_control_frames: 20}.freeze

  # What is sent again and again, behind a request whose body is still to come.
  FLOODS = {
    ping: F.frame(:ping, 0, "12345678"),
    settings: F.settings,
    priority: F.frame(:priority, 3, "\0\0\0\0\x10"),
    empty_data: F.frame(:data, 1, ""),
    padding_alone: F.frame(:data, 1, "\x01\0", flags: F::PADDED),
    window_by_little: F.frame(:window_update, 1, "\0\0\0\1")
  }.freeze

  FLOODS.each do |what, bytes|
    define_method("test_flood_of_#{what}") do
      serving(->(env) { [200, {}, [env["rack.input"].read]] }, **LITTLE) do
        client = http2
        client.write(OPEN + bytes * 100)

        assert_equal :enhance_your_calm, client.end_of_connection
        assert_equal 1, @server.stats[:http2_floods]
      end
    end
  end

  def test_as_much_as_is_allowed
    serving(HELLO, **LITTLE) do
      client = http2
      10.times { client.frame(:ping, 0, "12345678") }

      assert_equal "hello", client.get.body
      assert_equal 0, @server.stats[:http2_floods]
    end
  end

  def test_rapid_reset
    count = 0
    serving(->(_env) { (count += 1) && [200, {}, []] }, **LITTLE) do
      client = http2
      client.write((0...200).map { |i| F.request(2 * i + 1) + F.frame(:rst_stream, 2 * i + 1, "\0\0\0\x08") }.join)

      assert_equal :enhance_your_calm, client.end_of_connection
      assert_equal 1, @server.stats[:http2_floods]
    end
    assert_operator count, :<=, 20
  end

  # The client has the server reset the streams.
  def test_made_you_reset
    serving(HELLO, **LITTLE) do
      client = http2
      client.write((0...100).map { |i| F.request(2 * i + 1, fields: {"connection" => "close"}) }.join)

      assert_equal :enhance_your_calm, client.end_of_connection
    end
  end

  def test_continuation_without_end
    serving(HELLO, **LITTLE) do
      client = http2
      2.times { client.receive_until(:settings) }
      client.frame(:headers, 1, Hpack.block(":method" => "GET"))
      begin
        1000.times { |i| client.frame(:continuation, 1, Hpack.block("x-#{i}" => "a" * 1000)) }
      rescue SystemCallError
        nil # the server has closed
      end

      assert_includes [:enhance_your_calm, :internal_error, nil], client.end_of_connection
      assert_equal 0, @server.stats[:requests]
    end
  end

  # A field of the dynamic table, again and again, costs the client a byte each.
  def test_hpack_bomb
    serving(HELLO, max_headers: 50) do
      client = http2
      field = "\x40".b + Hpack.string("x-bomb") + Hpack.string("a" * 3000)
      block =
        Hpack.block(":method" => "GET", ":scheme" => "http", ":path" => "/", ":authority" => "h") + field +
        "\xbe".b * 10_000
      client.frame(:headers, 1, block, flags: F::END_HEADERS | F::END_STREAM)

      assert_equal 431, client.response(1).status
    end
  end

  # Streams that the client cancels do not make room for others, as long as the application works for them.
  def test_cancelled_requests_count_while_the_application_works
    released = Queue.new
    serving(->(_env) { released.pop && [200, {}, []] }, max_streams: 2) do
      client = http2
      2.times { client.receive_until(:settings) }
      4.times do
        stream = client.request
        running = @server.stats[:running]
        eventually("the request") { @server.stats[:running] > running || @server.stats[:requests] * 2 == stream + 1 }
        client.frame(:rst_stream, stream, "\0\0\0\x08")
      end
      eventually("the resets") { @server.stats[:http2_resets] == 4 }

      assert_equal :refused_stream, client.get.error
      4.times { released << true }
      eventually("the applications' ends") { @server.stats[:running].zero? }
      released << true

      assert_equal 200, client.get.status
    end
  end
end
