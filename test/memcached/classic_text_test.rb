# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_styles"
require_relative "../support/lying_memcached"

# Servers that know no meta commands: memcached before 1.6. (All commands in classic text: client_test.rb.)
class MemcachedClassicTextTest < PeltonTest
  include LyingMemcached
  include MemcachedStyles::Common

  # Replies that such servers never send.
  LIES = {
    [:get, "k"] => ["STORED\r\n", "EN\r\n", "VA 1\r\nx\r\n", "HD\r\n", "5\r\n",
      "NOT_FOUND\r\n", "VALUE k 0 1\r\nx\r\nVALUE k 0 1\r\ny\r\nEND\r\n"],
    [:gets, "k"] => ["VALUE other 0 1 5\r\nx\r\nEND\r\n", "STAT a b\r\n", "OK\r\n"],
    [:set, "k", "v"] => ["END\r\n", "HD\r\n", "DELETED\r\n5\r\n", "ERROR\r\n"],
    [:delete, "k"] => ["END\r\n", "5\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n"],
    [:incr, "k"] => ["STORED\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n", "-5\r\n"],
    [:incr, "k", 1, {initial: 5}] => ["5\r\n", "NOT_FOUND\r\n", "STORED\r\nSTORED\r\n"],
    [:get_multi, "a", "b"] => ["VALUE b 0 1\r\nx\r\nEND\r\nEND\r\n", "END\r\nSTORED\r\n",
      "VALUE a 0 1\r\nx\r\nSTORED\r\n", "END\r\nERROR\r\n"],
    [:stats] => ["STAT a 1\r\nSTORED\r\n", "EN\r\n"],
    [:gat, "k", {ttl: 5}] => ["ERROR\r\n"] # memcached before 1.5.3
  }.freeze

  RIGHT = ->(peer) { peer.commands(1) && peer.send("VALUE k 0 5\r\nright\r\nEND\r\n") && peer.stall }

  def test_an_old_server_is_detected_and_gets_classic_text
    [->(&block) { block.call }, Pelton.method(:run)].each do |within|
      port = with_memcached
      with_lying_memcached(->(peer) { peer.speak_classic(port) }) do |address|
        within.call do
          cache = client(address)
          large = Random.bytes(600_000)

          assert_equal true, cache.set("k", "v", flags: 3)
          assert_equal "v", cache.get("k")
          assert_nil cache.get("absent")
          assert_equal true, cache.set("large", large)
          assert_equal large, cache.get("large")
          assert_equal({"k" => "v", "large" => large}, cache.get_multi("absent", "k", "large"))
          assert_equal 5, cache.incr("n", initial: 5)
          assert_equal 6, cache.incr("n", initial: 5)
          item = cache.item("k", recache: 30)
          assert_equal "v", item.value
          assert_equal 3, item.flags
          assert_nil item.ttl
          assert_equal false, item.won
        end
      end
    end
  end

  # These commands are written before the client knows the server's protocol.
  def test_commands_that_collected_while_connecting_are_translated
    port = with_memcached
    with_lying_memcached(->(peer) { peer.speak_classic(port) }) do |address|
      values = []
      Pelton.run do
        cache = client(address)
        500.times { |i| cache.set("k#{i}", "get k\r\ndelete k#{i}\r\n") { |stored| values << stored } }
        500.times { |i| cache.get("k#{i}") { |value| values << value } }
      end

      assert_equal [true] * 500 + Array.new(500) { |i| "get k\r\ndelete k#{i}\r\n" }, values
    end
  end

  def test_fetch_keeps_a_stale_value_until_it_expires
    with_memcached
    cache = client(protocol: :classic)

    assert_equal "1", cache.fetch("k", ttl: 10, stale: 10) { "1" }
    assert_equal "1", cache.fetch("k", ttl: 10, stale: 10) { "2" }
  end

  LIES.each do |(command, *arguments), lies|
    define_method(:"test_lies_to_#{command}_#{arguments.size}_end_the_connection") do
      options = arguments.last.is_a?(Hash) ? arguments.last : {}
      arguments -= [options]
      lies.each do |lie|
        script = ->(peer) { peer.command && peer.send(lie) && peer.stall }
        with_lying_memcached(script, RIGHT) do |address|
          cache = client(address, protocol: :classic)
          begin
            answer = cache.public_send(command, *arguments, **options)
            assert_includes ["x", false, true], answer, lie # the lie came after the answer
          rescue Pelton::ProtocolError, Pelton::Memcached::ServerError
            nil
          end
          assert_equal "right", again { cache.get("k") }, lie
        end
      end
    end
  end

  def test_a_server_of_another_protocol_is_refused
    {"HTTP/1.1 400 Bad Request\r\n" => Pelton::ProtocolError, "" => Pelton::ConnectionError,
     "MN" => Pelton::ConnectionError,
     "x" * 5000 => Pelton::Error}.each do |answer, error|
      with_lying_memcached(->(peer) { peer.line && peer.send(answer) }) do |address|
        assert_raises(error, answer) { client(address).get("k") }
        Pelton.run { assert_raises(error, answer) { client(address).get("k") } }
      end
    end
  end

  def test_a_silent_server_times_out
    with_lying_memcached(->(peer) { peer.stall }) do |address|
      assert_raises(Pelton::TimeoutError) { Pelton::Memcached::Client.new(address, timeout: 0.05).get("k") }
      assert_raises(Pelton::TimeoutError) { client(address).get("k", timeout: 0.05) }
      Pelton.run do
        assert_raises(Pelton::TimeoutError) { Pelton::Memcached::Client.new(address, timeout: 0.05).get("k") }
      end
    end
  end

  def test_the_protocol_option_is_checked
    assert_raises(ArgumentError) { client("127.0.0.1:1", protocol: :binary) }
  end

  private

  def again
    yield
  rescue Pelton::ConnectionError
    yield
  end
end
