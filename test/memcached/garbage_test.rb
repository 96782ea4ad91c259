# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require "json"

# Replies with bytes changed, lost, doubled or added at random. The result is a value or one of Pelton's errors, never a
# crash or a hang; and the next connection works again.
class MemcachedGarbageTest < PeltonTest
  include MemcachedStyles::Common

  COMMANDS = [
    [:get, "a"], [:get, "large"], [:gets, "a"], [:item, "a"], [:get_multi, "a", "b", "large"], [:set, "a", "v"],
    [:add, "c", "v"],
    [:incr, "n"], [:decr, "n", 2], [:delete, "c"], [:touch, "a", {ttl: 60}], [:gat, "a", {ttl: 60}],
    [:set_multi, {"a" => "v", "b" => "w"}],
    [:version], [:stats], [:versions], [:incr, "m", {initial: 5}]
  ].freeze
  WORDS = ["VA 5\r\n", "EN\r\n", "HD\r\n", "END\r\n", "VALUE a 0 1\r\n", "ERROR\r\n", "\r\n", "STAT a b\r\n",
    "99999999999999999999", "-1 "].freeze

  {
    plain: {},
    coded: {serializer: JSON, compress: 10}
  }.each do |name, options|
    define_method(:"test_#{name}_replies_that_are_damaged") do
      FaultProxy.start(with_memcached) do |proxy|
        random = Random.new(Minitest.seed)
        cache = client("127.0.0.1:#{proxy.port}", **options, timeout: 0.05, failure_limit: 1_000_000)
        prepare(client("127.0.0.1:#{proxy.port}", **options)) # which has more time
        proxy.corrupt { |bytes| (random.rand(3) == 0) ? damage(bytes, random) : bytes }
        Pelton.run { 20.times { Array.new(4) { Pelton.spawn { ask_anything(cache, random) } }.each(&:await) } }
        50.times { ask_anything(cache, random) }
        proxy.corrupt
        cache.close
        fresh = client("127.0.0.1:#{proxy.port}", **options)
        prepare(fresh)

        assert_equal "v", fresh.get("a")
      end
    end
  end

  private

  def prepare(cache)
    cache.set("large", "l" * 70_000)
    cache.set("a", "v")
    cache.set("n", "7", raw: true)
  end

  def ask_anything(cache, random)
    command, *arguments = COMMANDS.sample(random: random)
    options = (arguments.last.is_a?(Hash) && command != :set_multi) ? arguments.pop : {}
    cache.public_send(command, *arguments, **options)
  rescue Pelton::Error
    nil
  end

  def damage(bytes, random)
    bytes = bytes.dup
    at = random.rand(bytes.bytesize + 1)
    case random.rand(5)
    when 0 then bytes.setbyte(at, random.rand(256)) if at < bytes.bytesize
    when 1 then bytes.slice!(at, random.rand(1..5))
    when 2 then bytes.insert(at, random.bytes(random.rand(1..5)))
    when 3 then bytes.insert(at, WORDS.sample(random: random))
    else bytes.concat(bytes)
    end
    bytes
  end
end
