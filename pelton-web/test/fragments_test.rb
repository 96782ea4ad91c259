# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebFragmentsTest < PeltonTest
  Fragments = Pelton::Web::Fragments

  def test_a_fragment_is_rendered_once
    stores do |fragments|
      rendered = 0
      2.times { assert_equal "text 1", fragments.fetch(["post", 1]) { "text #{rendered += 1}" }.text }
      assert_equal "text 2", fragments.fetch(["post", 2]) { "text #{rendered += 1}" }.text
      assert fragments.delete(["post", 1])
      assert_equal "text 3", fragments.fetch(["post", 1]) { "text #{rendered += 1}" }.text
    end
  end

  def test_what_a_block_may_render
    stores do |fragments|
      secret = Pelton::HTTP::Fragment.secret("token")

      assert_equal secret.deflated, fragments.fetch("secret") { secret }.deflated
      assert_equal secret.deflated, fragments.fetch("secret") { flunk }.deflated
      assert_equal "a page",
        fragments.fetch("page") { Pelton::HTTP::Page.new << "a " << Pelton::HTTP::Fragment.new("page") }.text
      assert_raises(TypeError) { fragments.fetch("nil") { nil } }
      assert_equal "better", fragments.fetch("nil") { "better" }.text
    end
  end

  def test_many_fragments_at_once
    stores do |fragments|
      fragments.fetch(2) { "two" }
      rendered = []
      found = fragments.fetch_multi([1, 2, 3, 1]) { |key| "text #{rendered.push(key).last}" }

      assert_equal ["text 1", "two", "text 3", "text 1"], found.map(&:text)
      assert_equal [1, 3], rendered
      assert_equal found.map(&:text), fragments.fetch_multi([1, 2, 3, 1]) { flunk }.map(&:text)
      assert_equal [], fragments.fetch_multi([]) { flunk }
    end
  end

  def test_fibers_that_miss_it_at_the_same_time
    stores do |fragments|
      rendered = 0
      texts =
        Array.new(4) { Pelton.spawn { fragments.fetch("a") { sleep(0.01) && "text #{rendered += 1}" }.text } }
          .map(&:await)

      assert_equal ["text 1"] * 4, texts
    end
  end

  def test_mistakes
    fragments = Fragments.new

    assert_raises(ArgumentError) { fragments.fetch("a") }
    assert_raises(ArgumentError) { fragments.fetch_multi(["a"]) }
    assert_raises(ArgumentError) { fragments.fetch(nil) { "text" } }
    assert_raises(ArgumentError) { Fragments.new(max_bytes: "64 MB") }
  end

  private

  # In memory, and in memcached.
  def stores
    Pelton.run { yield Fragments.new }
    with_memcached do |port|
      client = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
      Pelton.run { yield Fragments.new(memcached: client) }
    ensure
      client&.close
    end
  end
end
