# frozen_string_literal: true

require_relative "../../support/http/peer"

# Responses that are removed from the server's cache.
class HTTPCachedPurgeTest < PeltonTest
  include HttpPeer

  PUBLIC = {"content-type" => "text/plain", "cache-control" => "public, max-age=60"}.freeze

  def test_one_path_with_any_query_and_headers
    cached do
      targets = ["/a", "/a?b=1", "/ab", "/a/b"]
      targets.each { |target| peer.get(target) }
      peer.get("/a", "Accept: text/html\n")

      assert_equal 3, @server.purge("/a")
      assert_equal 3, @server.stats[:cache_purged]
      assert_equal [false, false, true, true], targets.map { |target| kept?(target) }
    end
  end

  def test_what_begins_so_and_everything
    cached do
      targets = ["/a", "/a/b", "/a/c?d", "/b"]
      targets.each { |target| peer.get(target) }
      assert_equal 2, @server.purge("/a/*")
      assert_equal [true, false, false, true], targets.map { |target| kept?(target) }
      assert_equal 4, @server.purge("/*")
      assert_equal [false] * 4, targets.map { |target| kept?(target) }
    end
  end

  # What was noted of a key is no response.
  def test_only_responses_are_counted
    cached do
      peer.get("/a", "User-Agent: me\n")
      assert_equal 0, @server.purge("/a")
      assert_equal 0, @server.stats[:cache_bytes]
    end
  end

  # It may show what was true before.
  def test_a_response_that_is_being_made_is_not_kept
    gate = Thread::Queue.new
    started = Thread::Queue.new
    serving(->(_) { started << 1 and gate.pop and [200, PUBLIC.dup, ["a"]] }, cache: 1 << 20) do
      old = peer.say("GET /a HTTP/1.1\nHost: localhost\n\n")
      started.pop
      assert_equal 0, @server.purge("/a")
      new = peer.say("GET /a HTTP/1.1\nHost: localhost\n\n")
      started.pop # it does not wait for the old one
      2.times { gate << 1 }
      assert_equal %w[a a], [old, new].map { |peer| peer.response.body }
      assert kept?("/a")
    end
  end

  # Requests that wait for it are counted as waiting, and its key is kept as before from then on.
  def test_a_response_that_others_wait_for
    gate = Thread::Queue.new
    browser = "User-Agent: me\n"
    serving(->(_) { gate.pop and [200, PUBLIC.dup, ["a"]] }, cache: 1 << 20) do
      old = Array.new(2) { peer.say("GET /a HTTP/1.1\nHost: localhost\n#{browser}\n") }
      eventually { @server.stats[:cache_waits] == 1 }
      @server.purge("/a")
      assert_equal [1, 1], @server.stats.values_at(:running, :waiting)
      4.times { gate << 1 }
      assert_equal %w[a a], old.map { |peer| peer.response.body }
      assert_equal [false, false, true], Array.new(3) { kept?("/a", browser) }
    end
  end

  def test_while_it_is_being_sent
    serving(->(_) { [200, PUBLIC.dup, ["x" * 500_000]] }, cache: 8 << 20) do
      peer.get("/a")
      slow = peer.say("GET /a HTTP/1.1\nHost: localhost\n\n" * 10)
      eventually { @server.stats[:cache_hits].positive? }
      @server.purge("/*")
      assert_equal ["x" * 500_000], Array.new(10) { slow.response.body }.uniq
    end
  end

  def test_without_a_cache_and_without_a_path
    serving(->(_) { [200, PUBLIC.dup, ["a"]] }) do
      assert_equal 0, @server.purge("/a")
      assert_match(/"a" is no path/, assert_raises(ArgumentError) { @server.purge("a") }.message)
    end
  end

  private

  # Whether the response comes from the cache; if not, it is kept from now on.
  def kept?(path, headers = "") = !peer.get(path, headers)["age"].nil?

  def cached(&block) = serving(->(env) { [200, PUBLIC.dup, [env["PATH_INFO"]]] }, cache: 1 << 20, &block)
end
