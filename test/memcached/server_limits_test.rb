# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/captured_log"
require_relative "../support/memcached_server"

# The embedded server's limits of memory, values, connections and silence.
class MemcachedServerLimitsTest < PeltonTest
  include CapturedLog
  include MemcachedServer

  def test_memory_limit
    with_server(memory: 2 << 20) do |server|
      client = client_of(server)
      4000.times { |number| client.set("key#{number}", "x" * 1000) }

      assert_operator server.stats[:bytes], :<=, 2 << 20
      assert_operator server.stats[:evictions], :>, 0
      assert_nil client.get("key0")
      assert_equal "x" * 1000, client.get("key3999")
    end
  end

  # Values of all sizes: small ones are copied to the output, large ones are borrowed from the store.
  def test_values_are_right_or_absent_when_memory_is_short
    with_server(memory: 2 << 20) do |server|
      tasks = Array.new(10) { |number| Pelton.spawn { busy_client(server, Random.new(number)) } }

      assert_operator tasks.sum(&:await), :>, 0
      assert_operator server.stats[:evictions], :>, 0
      assert_operator server.stats[:bytes], :<=, 2 << 20
    end
  end

  def test_value_limit
    with_server(value_limit: 2000) do |server|
      client = client_of(server)

      assert client.set("key", "x" * 1900)
      error = assert_raises(Pelton::Memcached::ServerError) { client.set("key", "x" * 2000) }
      assert_match(/too large/, error.message)
    end
  end

  def test_large_values_with_a_higher_value_limit
    value = Random.new(2).bytes(6_000_000)
    with_server(value_limit: 8 << 20) do |server|
      client = client_of(server)

      assert client.set("key", value)
      assert_equal value, client.get("key")
      refute_nil client.get("key")
    end
  end

  def test_max_connections
    with_server(max_connections: 2) do |server|
      sockets = Array.new(3) { Pelton.connect("127.0.0.1", server.port) }

      assert_equal "ERROR Too many open connections\r\n", sockets[2].gets
      sockets[0].write("mn\r\n")
      assert_equal "MN\r\n", sockets[0].gets
    end
  end

  def test_idle_timeout
    with_server(idle_timeout: 1) do |server|
      assert_nil Pelton.connect("127.0.0.1", server.port).gets(timeout: 20)
      assert_equal 1, server.stats[:idle_kicks]
    end
    assert_empty log
  end

  def test_arguments_are_checked
    assert_raises(ArgumentError) { Server.new(memory: 1000) }
    assert_raises(ArgumentError) { Server.new(max_connections: 0) }
    assert_raises(ArgumentError) { Server.new(idle_timeout: -1) }
    assert_raises(ArgumentError) { Server.new(max_connections: 100_000) }
    assert_raises(ArgumentError) { Server.new(value_limit: 10) }
    assert_raises(ArgumentError) { Server.new(value_limit: 1 << 31, memory: 1 << 32) }
    assert_raises(ArgumentError) { Server.new(value_limit: 2 << 20, memory: 1 << 20) }
  end

  private

  # Stores, deletes and reads at random. Returns the number of values found.
  def busy_client(server, random)
    client = client_of(server)
    found = Array.new(300) do
      key = "key#{random.rand(200)}"
      case random.rand(10)
      when 0..3 then client.set(key, "#{key}:" * random.rand(1..8000))
      when 4 then client.delete(key)
      else
        value = client.get(key)
        assert_equal "#{key}:" * (value.size / (key.size + 1)), value if value
        value
      end
    end
    found.grep(String).size
  ensure
    client&.close
  end
end
