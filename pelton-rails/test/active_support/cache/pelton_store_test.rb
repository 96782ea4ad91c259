# frozen_string_literal: true

require "test_helper"
require "active_support"
require "active_support/cache"
require "active_support/cache/mem_cache_store"
require "active_support/cache/pelton_store"
require "active_support/core_ext/numeric/time"
require "active_support/core_ext/object/blank"
require "active_support/error_reporter/test_helper"
require "active_support/notifications"
require "logger"

# Each call does the same as with Rails' MemCacheStore, each on its own memcached.
class PeltonStoreTest < PeltonTest
  # A record, for the cache: a key and a version.
  Post = Struct.new(:id, :version) do
    def cache_key = "posts/#{id}"
    def cache_version = version.to_s
  end

  CALLS = {
    "write and read" => ->(cache) { [cache.write("k", {a: [1, nil]}), cache.read("k"), cache.read("absent")] },
    "strings keep their encodings" => ->(cache) {
      ["é", "\xFF".b,
        "plain"].map { |text| cache.write("k", text) && [cache.read("k"), cache.read("k").encoding] }
    },
    "nil and false" => ->(cache) {
      [cache.write("n", nil), cache.read("n"), cache.exist?("n"), cache.fetch("n") { 1 },
        cache.write("f", false), cache.fetch("f") { 1 }]
    },
    "skip_nil" => ->(cache) { [cache.fetch("n", skip_nil: true) { nil }, cache.exist?("n")] },
    "fetch" => ->(cache) {
      [cache.fetch("k") { 1 }, cache.fetch("k") { 2 }, cache.fetch("k", force: true) { 3 },
        cache.read("k")]
    },
    "fetch gives the block its name and options" => ->(cache) {
      [cache.fetch("k") { |name| name },
        cache.fetch("absent")]
    },
    "write_multi with unless_exist" => ->(cache) {
      cache.write("k",
        1).then { cache.write_multi({"k" => 2, "l" => 3}, unless_exist: true) }.then { cache.read_multi("k", "l") }
    },
    "unless_exist" => ->(cache) {
      [cache.write("k", 1, unless_exist: true), cache.write("k", 2, unless_exist: true),
        cache.read("k")]
    },
    "raw" => ->(cache) {
      [cache.write("k", 5, raw: true), cache.read("k", raw: true),
        cache.write("t", "text", raw: true), cache.fetch("t", raw: true) { 1 }]
    },
    "counters" => ->(cache) {
      [cache.increment("a"), cache.increment("a", 10), cache.decrement("a", 4),
        cache.decrement("b"), cache.increment("c", 7), cache.read("a", raw: true).to_i]
    },
    "a counter that is none" => ->(cache) { [cache.write("k", "text"), cache.increment("k"), cache.decrement("k")] },
    "counters with a time" => ->(cache) {
      [cache.increment("a", 1, expires_in: 60),
        cache.increment("a", 1, expires_in: 60)]
    },
    "delete" => ->(cache) {
      [cache.delete("k"), cache.write("k", 1), cache.exist?("k"), cache.delete("k"),
        cache.exist?("k")]
    },
    "delete_multi" => ->(cache) {
      [cache.write_multi({"a" => 1, "b" => 2}).keys, cache.delete_multi(%w[a b c]),
        cache.read("a")]
    },
    "read_multi" => ->(cache) {
      [cache.write("a", 1), cache.write("b", nil), cache.read_multi("a", "b", "c"),
        cache.read_multi]
    },
    "write_multi" => ->(cache) {
      [cache.write_multi({"a" => 1, "b" => {c: 2}}, expires_in: 60).keys,
        cache.read_multi("a", "b")]
    },
    "fetch_multi" => ->(cache) {
      [cache.write("a", 1), cache.fetch_multi("a", "b", "c") { |name| "#{name}!" },
        cache.read("c")]
    },
    "fetch_multi with options" => ->(cache) do
      [cache.fetch_multi("a", "b", force: true, skip_nil: true) { |name| (name == "a") ? nil : 1 }, cache.exist?("a"),
        cache.exist?("b")]
    end,
    "an entry that has expired" => ->(cache) {
      [cache.write("k", 1, expires_in: 0.01), sleep(0.02), cache.read("k"),
        cache.exist?("k")].values_at(0, 2, 3)
    },
    "expires_at" => ->(cache) { [cache.write("k", 1, expires_at: Time.now + 60), cache.read("k")] },
    "a duration" => ->(cache) {
      [cache.write("k", 1, expires_in: 1.minute), cache.read("k"),
        cache.write("r", 1, expires_in: 1.minute, race_condition_ttl: 5.seconds), cache.read("r")]
    },
    "race_condition_ttl" => lambda do |cache|
      cache.write("k", "old", expires_in: 0.01, race_condition_ttl: 10)
      sleep 0.02
      cache.fetch("k", race_condition_ttl: 10, expires_in: 60) { "new, #{cache.read("k")} for others" }
    end,
    "versions" => lambda do |cache|
      cache.write(Post.new(1, 1), "one")
      [cache.read(Post.new(1, 1)), cache.read(Post.new(1, 2)), cache.fetch(Post.new(1, 2)) { "two" },
        cache.read("posts/1"),
        cache.read_multi(Post.new(1, 2)).values, cache.read_multi(Post.new(1, 3)).values,
        cache.read("posts/1", version: "2"), cache.read("posts/1", version: "9")]
    end,
    "namespaces" => ->(cache) {
      [cache.write("k", 1, namespace: "n"), cache.read("k"), cache.read("k", namespace: "n"),
        cache.read("n:k"), cache.write("p", 2, namespace: -> { "m" }), cache.read("m:p")]
    },
    "compression" => ->(cache) {
      [cache.write("k", "x" * 5000), cache.read("k").size,
        cache.write("l", "y" * 5000, compress: false), cache.read("l").size,
        cache.write("m", "z" * 500, compress_threshold: 100), cache.read("m").size]
    },
    "keys of all kinds" => lambda do |cache|
      keys = ["with space", "ä€", "per%cent", "x" * 400, "\xFF\x00".b, :symbol, ["a", 1, nil], {b: 2, a: 1},
        Post.new(7, nil), 42]
      [keys.map { |key| cache.write(key, key.to_s) }, keys.map { |key| cache.read(key) == key.to_s },
        cache.read_multi(*keys).size]
    end,
    "an empty key" => ->(cache) { cache.write("", 1) },
    "clear" => ->(cache) { [cache.write("k", 1), cache.clear, cache.read("k")].values_at(0, 2) },
    "a large object" => ->(cache) { [cache.write("k", "x" * 2_000_000, compress: false), cache.read("k")].last },
    "the cache of a block" => lambda do |cache|
      cache.with_local_cache do
        [cache.write("k", [1]), cache.read("k"), cache.read("k").equal?(cache.read("k")), cache.increment("n"),
          cache.read("n", raw: true).to_i, cache.write_multi({"a" => 1}).keys,
          cache.read_multi("a", "k", "absent"), cache.fetch_multi("a", "b") { 2 }, cache.delete("k"), cache.read("k"),
          cache.delete_multi(%w[a]), cache.read("a")]
      end
    end,
    "cleanup" => ->(cache) { cache.cleanup },
    "delete_matched" => ->(cache) { cache.delete_matched(/x/) },
    "a value that cannot be dumped" => ->(cache) { cache.write("k", -> {}) },
    "both times" => ->(cache) { cache.write("k", 1, expires_in: 1, expires_at: Time.now) }
  }.freeze

  CALLS.each do |name, call|
    define_method("test_#{name.tr(" ,", "__")}") do
      theirs, ours = with_events { call.call(mem_cache_store) }, with_events { call.call(store) }
      in_reactor = Pelton.run { with_events { call.call(store) } }

      assert_equal theirs, ours
      assert_equal theirs, in_reactor
    end
  end

  # The server forgets what nobody reads again.
  def test_an_entry_has_its_time_in_the_server_too
    cache = store
    [[60, {}], [300 + 60, {race_condition_ttl: 5}], [60, {race_condition_ttl: 5, raw: true}]].each do |most, options|
      cache.write("k", 1, expires_in: 60, **options)

      assert_includes 1..most, cache.client.item("k", raw: true).ttl, options
    end
    cache.write("k", 1, expires_in: 60, race_condition_ttl: 5)

    assert_operator cache.client.item("k", raw: true).ttl, :>, 60
  end

  def test_a_key_is_the_one_of_mem_cache_store
    keys = ["plain", "with space", "ä€", "per%cent", "x" * 400, "ä" * 200, "\xFF\x00".b]
    keys.each do |key|
      assert_equal mem_cache_store.send(:normalize_key, key, {}).b, store.send(:normalize_key, key, {}).b
    end
  end

  def test_a_failing_server_counts_as_absent_and_is_reported
    cache = store(nobody)
    log = StringIO.new
    cache.logger = Logger.new(log)
    reported = reported_by do
      assert_nil cache.read("k")
      assert_nil cache.write("k", 1)
      assert_equal 1, cache.fetch("k") { 1 }
      assert_nil cache.increment("k")
      assert_equal({}, cache.read_multi("a"))
      assert_equal({"a" => 2}, cache.fetch_multi("a") { 2 })
      assert_equal false, cache.delete("k")
      assert_equal 0, cache.delete_multi(%w[a])
      assert_nil cache.clear
      assert_nil cache.exist?("k") || nil
    end

    assert_operator reported.size, :>=, 8
    assert(reported.all? { |error| error.is_a?(Pelton::ConnectionError) })
    assert_match(/PeltonStore: read_entry failed, returned nil: Pelton::.*127\.0\.0\.1/, log.string)
  ensure
    cache&.logger = nil
  end

  def test_an_error_handler_of_the_program
    seen = []
    cache =
      store(nobody, error_handler: ->(method:, exception:, returning:) { seen << [method, exception.class, returning] })
    cache.delete("k")

    assert_equal [[:delete_entry, Pelton::ConnectionError, false]], seen
  end

  def test_one_failing_server_of_two_takes_only_its_keys
    cache = store([address, nobody], failover: false)
    stored = (1..50).map(&:to_s).select { |key| cache.write(key, key) }

    assert_includes 1..49, stored.size
    assert_equal stored.sort, cache.read_multi(*(1..50).map(&:to_s)).keys.sort
  end

  def test_a_limit_around_a_call_is_no_miss
    silent = TCPServer.new("127.0.0.1", 0)
    cache = store("127.0.0.1:#{silent.addr[1]}", timeout: 60)
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.01) { cache.fetch("k") { flunk } } }
      Pelton.stop
    end
  ensure
    silent&.close
  end

  # Such a value may lie there when the store is changed.
  def test_a_value_of_another_program_is_absent
    cache = store
    ["text", "\x04\bI\"\x06a\x06:\x06ET".b, ""].each do |value|
      cache.client.set("k", value)

      assert_nil cache.read("k")
      assert_empty cache.read_multi("k")
    end
  end

  def test_reads_of_many_fibers_leave_together
    cache = store
    cache.write_multi((1..100).to_h { |number| [number.to_s, number] })

    assert_equal (1..100).to_a, Pelton.run { Pelton.map((1..100).to_a) { |number| cache.read(number.to_s) } }
  end

  def test_entries_of_one_call_leave_together
    cache = store
    cache.client.define_singleton_method(:set) { |*| raise "one by one" }
    cache.write_multi({"a" => 1, "b" => 2})

    assert_equal({"a" => 1, "b" => 2}, cache.read_multi("a", "b"))
  end

  def test_an_unknown_option
    error = assert_raises(ArgumentError) { store("127.0.0.1:1", pool: {size: 5}) }

    assert_match(/unknown option :pool.*it needs no pool/, error.message)
  end

  def test_options_of_a_call_are_defaults_as_options_of_the_store
    [store(raw: true), mem_cache_store(raw: true)].each do |cache|
      cache.write("k", "text")
      values = [cache.read("k"), cache.fetch("k"), cache.fetch("k", raw: false) { "new" }]

      assert_equal %w[text text new], values, cache.class
    end
    store(raw: true).tap { |cache| cache.write("k", "text") && assert_equal("text", cache.client.get("k")) }
  end

  def test_servers_of_the_environment
    with_variable("MEMCACHE_SERVERS", "127.0.0.1:11299, 127.0.0.1:11298") do
      assert_equal %w[127.0.0.1:11299 127.0.0.1:11298],
        ActiveSupport::Cache.lookup_store(:pelton_store).client.servers.map(&:to_s)
    end
    with_variable("MEMCACHE_SERVERS", nil) do
      assert_equal %w[127.0.0.1:11211],
        ActiveSupport::Cache.lookup_store(:pelton_store, expires_in: 5).client.servers.map(&:to_s)
    end
  end

  def test_counters_of_the_servers
    cache = store
    before = cache.stats
    cache.write("k", "text")
    written = [before, cache.stats].map { |counters| Integer(counters.fetch(address).fetch("cmd_set")) }

    assert_equal [address], before.keys
    assert_operator written.last, :>, written.first
  end

  def test_inspect_names_the_servers_and_the_options
    assert_match(/\A#<ActiveSupport::Cache::PeltonStore servers=127\.0\.0\.1:11299 options=.*namespace.*>\z/,
      store("127.0.0.1:11299", namespace: "n").inspect)
  end

  def test_records_may_have_versions = assert_predicate(ActiveSupport::Cache::PeltonStore, :supports_cache_versioning?)

  private

  # On an empty server. Calls of both stores go to the same one, one store after the other.
  def store(servers = address, **options) = ActiveSupport::Cache::PeltonStore.new(servers, **options)

  def mem_cache_store(**options) = ActiveSupport::Cache::MemCacheStore.new(address, protocol: :meta, **options)

  def address = "127.0.0.1:#{with_memcached}"

  # An address where nobody listens.
  def nobody = "127.0.0.1:#{free_port}"

  # @return [Array] the block's value and the events of the cache, without the name of the store
  def with_events
    events = []
    keep = ->(name, _start, _finish, _id, payload) do
      events << [name, payload.except(:store, :protocol, :exception_object, :expires_in, :namespace)]
    end
    value = ActiveSupport::Notifications.subscribed(keep, /\Acache_/) do
      yield
    rescue ArgumentError, TypeError, NotImplementedError => error
      error.class
    end
    [value, events]
  end

  def reported_by
    subscriber = ActiveSupport::ErrorReporter::TestHelper::ErrorSubscriber.new
    ActiveSupport.error_reporter.subscribe(subscriber)
    yield
    subscriber.events.map(&:first)
  ensure
    ActiveSupport.error_reporter.unsubscribe(subscriber)
  end

  def with_variable(name, value)
    before = ENV[name]
    ENV[name] = value
    yield
  ensure
    ENV[name] = before
  end
end
