# frozen_string_literal: true

require "digest/md5"
require "fileutils"
require "open3"
require_relative "../test_helper"
require "pelton/memcached/hash_ring"

class HashRingTest < PeltonTest
  self.deadline = 60

  HashRing = Pelton::Memcached::HashRing
  SEED = Integer(ENV["SEED"] || 1)
  # libmemcached's numbers
  HASHES = {one_at_a_time: 0, md5: 1, fnv1_32: 5, fnv1a_32: 6}.freeze

  def test_one_to_twenty_servers_with_weights_have_the_keys_that_libmemcached_gives_them
    keys = random_keys(100_000)

    (1..20).each { |count| assert_placed_alike(keys, random_servers(count)) }
  end

  def test_servers_of_the_same_weight_have_the_keys_that_libmemcached_gives_them
    keys = random_keys(5_000)

    [*2..20, 25, 100].each { |count| assert_placed_alike(keys, Array.new(count) { |i| "10.0.0.#{i}:11211:8" }) }
  end

  def test_other_hashes_and_equal_points_place_as_libmemcached_does
    keys = random_keys(10_000)

    HASHES.each_key do |hash|
      assert_placed_alike(keys, random_servers(7), hash: hash)
      assert_placed_alike(keys, random_servers(7).map { |server| server.sub(/(:\d+):\d+\z/, '\1') }, hash: hash, points: :equal)
    end
  end

  # Its keys are hashed by FNV-1, and the weight of a server that has none is 8.
  def test_the_memcached_gem_places_alike
    servers = ["10.0.0.1:11211", "cache.example:11212", "10.0.0.2:11211:3"]
    keys = Array.new(5_000) { random.bytes(20).unpack1("H*") } # it refuses bytes over 127
    output = ruby_output(<<~RUBY, *servers, stdin: "#{keys.join("\n")}\n")
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
    skip "the memcached gem is not installed (bin/setup --peers)" if output == "absent\n"
    ring = HashRing.new(["10.0.0.1:11211:8", "cache.example:11212:8", "10.0.0.2:11211:3"], hash: :fnv1_32)

    assert_equal output.lines(chomp: true), keys.map { |key| ring[key].host }
  end

  def test_a_point_of_the_ring_has_its_own_key
    ring = HashRing.new(%w[a b c])

    # The key "a-0" is hashed to the first of the four points that "a-0" makes.
    %w[a b c].each_with_index { |host, index| assert_equal [index], (0...39).map { |i| ring.index("#{host}-#{i}") }.uniq }
  end

  def test_the_order_of_the_servers_does_not_matter
    servers = random_servers(9)
    one, other = HashRing.new(servers), HashRing.new(servers.reverse)

    random_keys(2_000).each { |key| assert_equal one[key], other[key] }
  end

  def test_a_weight_is_a_share
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

  def test_one_server_has_every_key
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

  private

  def random = @random ||= Random.new(SEED)

  # No control characters and no spaces, but any other byte.
  def random_keys(count)
    Array.new(count) { random.bytes(random.rand(1..100)).tr("\0-\x20\x7f", "a-z") }
  end

  def random_servers(count)
    Array.new(count) do |i|
      host = ["10.0.#{i}.#{random.rand(256)}", "cache#{i}.example", "fe80::#{i}", "/run/m#{i}.sock"][(i + random.rand(2)) % 4]
      weight = random.rand(1..([1, 10, 100_000][random.rand(3)]))
      next "#{host}:#{weight}" if host.start_with?("/")
      host = "[#{host}]" if host.include?(":")
      "#{host}:#{(random.rand(3) == 0) ? 11211 : random.rand(1024..65_535)}:#{weight}"
    end
  end

  def assert_placed_alike(keys, servers, hash: :md5, points: :weighted)
    ring = HashRing.new(servers, hash: hash, points: points)
    arguments = ring.servers.flat_map { |server| [server.host || server.path, server.port.to_i, server.weight].map(&:to_s) }
    places, errors, status = Open3.capture3(libmemcached, points.to_s, HASHES.fetch(hash).to_s, *arguments,
      stdin_data: "#{keys.join("\n")}\n", binmode: true)

    assert_predicate status, :success?, errors
    assert_equal keys.size, places.bytesize
    differing = keys.zip(places.bytes).count { |key, place| ring.index(key) != place }
    assert_equal 0, differing, "of #{keys.size} keys, seed #{SEED}, #{servers} by #{hash}, #{points}"
  end

  # The program that asks libmemcached, compiled once.
  def libmemcached
    @@libmemcached ||= begin # standard:disable Style/ClassVars
      program = File.join(ROOT, "tmp/test/libmemcached_placement")
      FileUtils.mkdir_p(File.dirname(program))
      source = File.join(__dir__, "libmemcached_placement.c")
      output, status = Open3.capture2e("cc", "-O1", "-o", program, source, "-lmemcached")
      skip "libmemcached-dev is not installed" if !status.success? && output.match?(/memcached\.h|-lmemcached/)
      assert status.success?, output
      program
    end
  end
end
