# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebFragmentsMemcachedTest < PeltonTest
  Fragment = Pelton::HTTP::Fragment

  def test_what_one_process_has_stored_another_finds
    with_store do |store, port|
      fragment = store.fetch("a", nil) { Fragment.new("text") }
      found = with_client(port) { |client| store_of(client).get("a") }
      fetched = with_client(port) { |client| store_of(client).fetch("a", nil) { flunk "it is there" } }

      assert_equal fragment.text, found.text
      assert_equal fragment.text, fetched.text
      assert_equal fragment.deflated, found.deflated
      assert_equal fragment.digest, found.digest
    end
  end

  def test_many_keys_at_once
    with_store do |store|
      keys = ["a", "key with spaces", "long" * 100, "\xff", "[3:abc"]
      keys.each { |key| store.fetch(key, nil) { Fragment.new("text of #{key.b.inspect}") } }
      found = store.get_multi(keys + ["missing"])

      assert_equal keys, found.keys
      assert_equal(keys.map { |key| "text of #{key.b.inspect}" }, found.values.map(&:text))
      assert store.delete("a")
      refute store.delete("a")
      assert_nil store.get("a")
    end
  end

  # What another program, or another version, has left under the key.
  def test_a_value_that_is_no_fragment_is_replaced
    with_store do |store, port|
      with_client(port) { |client| client.set("fragment:a", "something else") }

      assert_nil store.get("a")
      assert_equal "text", store.fetch("a", nil) { Fragment.new("text") }.text
      assert_equal "text", store.get("a").text
    end
  end

  def test_a_memcached_that_is_gone_counts_as_empty
    client = Pelton::Memcached::Client.new("127.0.0.1:1", timeout: 1)
    store = store_of(client)

    assert_nil store.get("a")
    assert_equal({}, store.get_multi(%w[a b]))
    assert_equal "text", store.fetch("a", nil) { Fragment.new("text") }.text
  ensure
    client&.close
  end

  private

  def with_store
    with_memcached { |port| with_client(port) { |client| yield store_of(client), port } }
  end

  def with_client(port)
    client = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
    yield client
  ensure
    client&.close
  end

  def store_of(client) = Pelton::Web::Fragments::Memcached.new(client, "fragment:", 1)
end
