# frozen_string_literal: true

require "fileutils"
require "open3"
require "pelton/memcached/hash_ring"

# Asks libmemcached itself to which servers keys belong.
module KeyPlacement
  HashRing = Pelton::Memcached::HashRing
  SEED = Integer(ENV["SEED"] || 1)
  # libmemcached's numbers
  HASHES = {one_at_a_time: 0, md5: 1, fnv1_32: 5, fnv1a_32: 6}.freeze

  private

  def random = @random ||= Random.new(SEED)

  # No control characters and no spaces, but any other byte.
  def random_keys(count) = Array.new(count) { random.bytes(random.rand(1..100)).tr("\0-\x20\x7f", "a-z") }

  def random_servers(count)
    Array.new(count) do |i|
      host = ["10.0.#{i}.#{random.rand(256)}", "cache#{i}.example", "fe80::#{i}",
        "/run/m#{i}.sock"][(i + random.rand(2)) % 4]
      weight = random.rand(1..([1, 10, 100_000][random.rand(3)]))
      next "#{host}:#{weight}" if host.start_with?("/")
      host = "[#{host}]" if host.include?(":")
      "#{host}:#{(random.rand(3) == 0) ? 11211 : random.rand(1024..65_535)}:#{weight}"
    end
  end

  def assert_placed_alike(keys, servers, hash: :md5, points: :weighted, theirs: points)
    ring = HashRing.new(servers, hash: hash, points: points)
    arguments = ring.servers.flat_map do |server|
      [server.host || server.path, server.port.to_i, server.weight].map(&:to_s)
    end
    places, errors, status = Open3.capture3(libmemcached, theirs.to_s, HASHES.fetch(hash).to_s, *arguments,
      stdin_data: "#{keys.join("\n")}\n", binmode: true)

    assert_predicate status, :success?, errors
    assert_equal keys.size, places.bytesize
    differing = keys.zip(places.bytes).count { |key, place| ring.index(key) != place }
    assert_equal 0, differing, "of #{keys.size} keys, seed #{SEED}, #{servers} by #{hash}, #{points}"
  end

  # The program that calls libmemcached, compiled when it has changed.
  def libmemcached
    program = File.join(PeltonTest::ROOT, "tmp/test/libmemcached_placement")
    source = File.join(__dir__, "../memcached/libmemcached_placement.c")
    return program if FileUtils.uptodate?(program, [source])
    FileUtils.mkdir_p(File.dirname(program))
    output, status = Open3.capture2e("cc", "-O1", "-o", "#{program}.#{Process.pid}", source, "-lmemcached")
    skip "libmemcached-dev is not installed" if !status.success? && output.match?(/memcached\.h|-lmemcached/)
    assert status.success?, output
    File.rename("#{program}.#{Process.pid}", program) # as another process may run it
    program
  end
end
