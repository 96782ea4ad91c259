# frozen_string_literal: true

require_relative "../shared/memcached_styles"
require_relative "../support/certificates"
require_relative "../support/http/peer"
require_relative "../support/lying_memcached"

# Values that are relayed to another stream (ext/pelton/ruby/memcached/value_stream.c).
# test/shared/memcached_commands.rb tests Client#stream in every style.
class ValueStreamTest < PeltonTest
  include LyingMemcached
  include HttpPeer
  include MemcachedStyles::Direct

  SIZES = [0, 1, 10, 1_000, 16_384, 65_000, 65_520, 65_536, 70_000, 200_000, 1_000_000].freeze

  # A Rack application that responds with the value of the path's key. `streams` collects its ValueStreams.
  def broker(cache, length: true)
    lambda do |env|
      value = cache.stream(env["PATH_INFO"].delete("/")) or return [404, {}, []]
      streams << value
      [200, length ? {"content-length" => value.bytesize.to_s} : {}, value]
    end
  end

  def streams = @streams ||= []

  # Rack::Lint would wrap the body, and hide that it is a ValueStream.
  def serving(app, lint: false, **options) = super

  # A server that sends a value of 40,000 bytes in pieces, with the block's actions between them.
  def piecemeal(cut: 100, after: -> {})
    lambda do |peer|
      peer.commands(1)
      peer.send("VA 40000\r\n#{"a" * cut}")
      after.call
      peer.send("#{"b" * (40_000 - cut)}\r\n")
      peer.serve { "EN\r\n" }
    end
  end

  def test_values_of_all_sizes_are_relayed_to_http
    values = SIZES.to_h { |size| ["v#{size}", Random.new(size).bytes(size)] }
    [true, false].product([true, false]) do |length, lint|
      serving(broker(cache = client, length:), lint:) do
        cache.set_multi(values)
        keys = values.keys.shuffle * 3
        answers = Pelton.map(keys) { |key| [key, peer.get("/#{key}").body] }

        answers.each { |key, body| assert_equal values[key], body.b, key }
        assert_equal 404, peer.get("/absent").status
      end
    end
  end

  def test_late_bytes_are_relayed
    skip "there is no splice" if POSIX
    with_paused_memcached do |address, go_on|
      serving(broker(client(address))) do
        io = peer.say("GET /k HTTP/1.1\nHost: h\n\n").io
        nil until io.gets("\r\n") == "\r\n"

        assert_equal "a" * 100, io.read(100)
        go_on << true
        assert_equal "b" * 39_900, io.read(39_900)
      end

      assert_equal "", streams.first.read # nothing was received here
    end
  end

  def test_other_replies_come_behind_the_value
    serving(broker(cache = client)) do
      cache.set("large", large = Random.bytes(900_000))
      cache.set("small", "s")
      others = Array.new(50) { Pelton.spawn { cache.get("small") } }
      bodies = Pelton.map(1..20) { peer.get("/large").body.b }

      assert_equal ["s"], others.map(&:await).uniq
      assert_equal [large], bodies.uniq
    end
  end

  # The value is received meanwhile, because other replies wait behind it.
  def test_a_slow_caller_does_not_delay_other_replies
    Pelton.run do
      (cache = client).set("large", large = Random.bytes(900_000))
      value = cache.stream("large")

      assert_equal large, cache.get("large")
      assert_equal 900_000, value.bytesize
      assert_equal large, value.read
      assert_equal [large], value.to_enum.to_a
    end
  end

  def test_a_client_that_does_not_read_does_not_delay_other_replies
    serving(broker(cache = client)) do
      8.times { |i| cache.set("k#{i}", i.to_s * 1_000_000) }
      slow = Array.new(8) { |i| peer.say("GET /k#{i} HTTP/1.1\nHost: h\n\n" * 5) }
      eventually("all are under way") { streams.size >= 8 }

      assert_equal "7" * 1_000_000, cache.get("k7")
      slow.each_with_index { |peer, i| 5.times { assert_equal i.to_s * 1_000_000, peer.response.body } }
    end
  end

  def test_an_unused_value_is_received_and_dropped
    serving(broker(cache = client)) do
      cache.set("large", "x" * 900_000)

      assert_nil peer.get("/large", method: "HEAD").body
      5.times { cache.stream("large") }
      cache.stream("large").close
      assert_equal 900_000, cache.get("large").bytesize
    end
  end

  def test_clients_that_disconnect
    serving(broker(cache = client)) do
      cache.set("large", "x" * 1_000_000)
      20.times { peer.say("GET /large HTTP/1.1\nHost: h\n\n" * 3).close }

      assert_equal 1_000_000, peer.get("/large").body.bytesize
      assert_equal 1_000_000, cache.get("large").bytesize
    end
  end

  def test_a_server_that_dies_in_the_middle
    dies = lambda do |peer|
      peer.commands(1)
      peer.send("VA 40000\r\n#{"a" * 100}")
    end
    with_lying_memcached(dies) do |address|
      serving(broker(client(address))) { assert_operator peer.get("/k").body.bytesize, :<, 40_000 }

      assert_instance_of Pelton::ConnectionError, reported.first
      assert_raises(Pelton::ConnectionError) { streams.first.read }
    end
  end

  def test_a_server_that_stalls_in_the_middle
    still = lambda do |peer|
      peer.commands(1)
      peer.send("VA 40000\r\naaa")
      peer.stall
    end
    with_lying_memcached(still) do |address|
      cache = Pelton::Memcached::Client.new(address, timeout: 0.3)
      Pelton.run do
        value = cache.stream("k")

        assert_raises(Pelton::TimeoutError) { value.read }
        assert_raises(Pelton::TimeoutError) { value.each { flunk } }
      end
    end
  end

  # A server that pauses within a value until it may go on.
  def with_paused_memcached
    go_on = Thread::Queue.new
    with_lying_memcached(piecemeal(after: -> { go_on.pop })) { |address| yield address, go_on }
  end

  # The timeout was for the head: the rest may come later.
  def test_the_applications_timeout_covers_the_head_only
    with_paused_memcached do |address, go_on|
      cache = client(address)
      serving(broker(cache), request_timeout: 0.05) do
        connection = peer.say("GET /k HTTP/1.1\nHost: h\n\n")
        first = connection.io.read(1)
        sleep 0.1
        go_on << true
        connection.io.ungetc(first)

        assert_equal 40_000, connection.response.body.bytesize
        assert_nil cache.get("another")
      end
    end
  end

  def test_the_reactor_stops_during_a_relay
    with_paused_memcached do |address, go_on|
      Pelton.run do
        value = client(address).stream("k")
        Pelton.spawn { value.read }.errback { go_on << true }
        Pelton.next_tick { Pelton.stop }
      end
      go_on << true
    end
  end

  # The client would take the bytes behind it for the next response.
  def test_a_content_length_that_is_too_short
    cache = client
    serving(->(_env) { [200, {"content-length" => "100000"}, cache.stream("large")] }) do
      cache.set("large", "x" * 900_000)
      _, body = answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n").split("\r\n\r\n", 2)

      assert_operator body.to_s.bytesize, :<=, 100_000
    end
    assert_equal ["the body is longer than its content-length"], reported.map(&:message)
  end

  def test_a_client_with_tls
    context = Pelton::TLS::Context.new(certificate: Certificates.server.certificate, key: Certificates.server.key)
    cache = client
    Pelton.run do
      cache.set("large", large = Random.bytes(500_000))
      server = Pelton::HTTP::Server.new(broker(cache))
      port = server.listen("ssl://127.0.0.1:0", tls: context).port
      trust = Pelton::TLS::Context.new(ca_file: Certificates.authority)

      assert_equal large, Pelton::HTTP::Client.new("https://localhost:#{port}", tls: trust).get("/large").body.b
      server.stop
    end
  end

  def test_another_thread_may_not_read_a_value_in_flight
    with_paused_memcached do |address, go_on|
      Pelton.run do
        value = client(address).stream("k")

        assert_raises(Pelton::Error) { Pelton.offload { value.read } }
        go_on << true
        assert_equal 40_000, value.read.bytesize
      end
    end
  end

  # Values, and streams that are read, relayed, closed and forgotten, all at once on one connection.
  def test_random_use
    random = Random.new(seed = Random.new_seed)
    values = Array.new(30) { |i| random.bytes(random.rand(3).zero? ? random.rand(300_000) : random.rand(2_000)) }
    serving(broker(cache = client)) do
      values.each_with_index { |value, i| cache.set("k#{i}", value) }
      Pelton.map(1..200, concurrency: 40) do
        key = "k#{index = random.rand(values.size)}"
        case random.rand(6)
        when 0 then assert_equal values[index], cache.get(key), "seed #{seed}"
        when 1 then assert_equal values[index], cache.stream(key).read, "seed #{seed}"
        when 2 then cache.stream(key).close
        when 3 then cache.stream(key)
        else assert_equal values[index], peer.get("/#{key}").body.b, "seed #{seed}"
        end
      end
    end
  end
end
