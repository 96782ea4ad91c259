# frozen_string_literal: true

require "digest/md5"
require_relative "../test_helper"
require_relative "../shared/key_placement"

class HashRingTest < PeltonTest
  include KeyPlacement

  def test_weighted_servers_get_the_same_keys_as_with_libmemcached
    keys = random_keys(400) # test/integration has more

    (1..20).each { |count| assert_placed_alike(keys, random_servers(count)) }
  end

  def test_servers_of_equal_weight_get_the_same_keys_as_with_libmemcached
    keys = random_keys(400)

    [*2..20, 25, 100].each { |count| assert_placed_alike(keys, Array.new(count) { |i| "10.0.0.#{i}:11211:8" }) }
  end

  # libmemcached places by weight if the behavior was set when a server with a weight was added.
  def test_equal_points_set_before_servers_with_weights_are_weighted_points
    servers = %w[10.0.0.1:11211 10.0.0.2:11211:3]

    assert_placed_alike(random_keys(400), servers, hash: :one_at_a_time, theirs: :first)
    assert_placed_alike(random_keys(400), servers, hash: :one_at_a_time, points: :equal)
  end

  def test_other_hash_functions_and_equal_points_agree_with_libmemcached
    keys = random_keys(2_000)

    HASHES.each_key do |hash|
      assert_placed_alike(keys, random_servers(7), hash: hash)
      assert_placed_alike(keys, random_servers(7).map { |server| server.sub(/(:\d+):\d+\z/, '\1') }, hash: hash,
        points: :equal)
    end
  end

  # That gem hashes keys by FNV-1, and its default weight is 8.
  def test_servers_get_the_same_keys_as_with_the_memcached_gem
    servers = ["10.0.0.1:11211", "cache.example:11212", "10.0.0.2:11211:3"]
    keys = Array.new(5_000) { random.bytes(20).unpack1("H*") } # it refuses bytes over 127
    output = ruby_output(<<~RUBY, *servers, stdin: "#{keys.join("\n")}\n", gems: true)
      begin
        gem "memcached", "1.8.0"
        require "memcached"
      rescue LoadError
        puts "absent"
        exit
      end
      client = Memcached.new(ARGV)
      STDIN.each_line(chomp: true) { |key| puts client.server_by_key(key).split(":").first }
    RUBY
    skip "the memcached gem is not installed (bin/setup lab)" if output == "absent\n"
    ring = HashRing.new(["10.0.0.1:11211:8", "cache.example:11212:8", "10.0.0.2:11211:3"], hash: :fnv1_32)

    assert_equal output.lines(chomp: true), keys.map { |key| ring[key].host }
  end

  def test_a_key_on_a_point_belongs_to_that_point
    ring = HashRing.new(%w[a b c])

    # The key "a-0" has the hash of the first of the four points that "a-0" makes.
    %w[a b c].each_with_index do |host, index|
      assert_equal [index], (0...39).map { |i| ring.index("#{host}-#{i}") }.uniq
    end
  end

  def test_keys_do_not_depend_on_the_order_of_the_servers
    servers = random_servers(9)
    one, other = HashRing.new(servers), HashRing.new(servers.reverse)

    random_keys(2_000).each { |key| assert_equal one[key], other[key] }
  end

  def test_a_weight_is_a_share_of_the_keys
    ring = HashRing.new(["a:1:1", "b:1:3"])
    share = random_keys(20_000).count { |key| ring[key].host == "b" } / 20_000.0

    assert_in_delta 0.75, share, 0.06
  end

  def test_without_a_server_the_others_keep_their_keys
    ring = HashRing.new(Array.new(5) { |i| "10.0.0.#{i}" })
    rest = ring.without("10.0.0.2")

    assert_equal 4, rest.servers.size
    random_keys(5_000).each do |key|
      owner = ring[key]
      (owner.host == "10.0.0.2") ? refute_equal(owner, rest[key]) : assert_equal(owner, rest[key])
    end
  end

  def test_keys_are_strings_and_symbols
    ring = HashRing.new(%w[a b c d])

    assert_equal ring.index("key"), ring.index(:key)
    assert_raises(TypeError) { ring.index(nil) }
    assert_raises(TypeError) { ring.index(7) }
  end

  def test_a_single_server_gets_every_key
    assert_equal [0], random_keys(100).map { |key| HashRing.new("a").index(key) }.uniq
  end

  def test_arguments_are_checked
    assert_raises(ArgumentError) { HashRing.new([]) }
    assert_raises(ArgumentError) { HashRing.new(%w[a:0]) }
    assert_raises(ArgumentError) { HashRing.new(%w[a]).without("a") }
    assert_match(/:fnv1_32/, assert_raises(ArgumentError) { HashRing.new(%w[a], hash: :sha1) }.message)
    assert_raises(ArgumentError) { HashRing.new(%w[a], points: :many) }
  end

  def test_a_ring_never_changes
    ring = HashRing.new(%w[a b])

    assert_predicate ring, :frozen?
    assert_predicate ring.servers, :frozen?
    assert_raises(FrozenError) { ring.send(:_build, ["c"], [1], :md5, true) }
    assert_raises(TypeError) { HashRing.allocate.index("key") }
  end
end
