# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebFragmentsKeyTest < PeltonTest
  Key = Pelton::Web::Fragments::Key
  Model = Struct.new(:cache_key)
  Versioned = Struct.new(:cache_key_with_version, :cache_key)
  Dated = Struct.new(:id, :updated_at)

  def test_keys
    assert_equal "menu", Key.of("menu")
    assert_equal "menu", Key.of(:menu)
    assert_equal "7", Key.of(7)
    assert_equal "posts/1", Key.of(Model.new("posts/1"))
    assert_equal "posts/1-2", Key.of(Versioned.new("posts/1-2", "posts/1"))
    assert_equal Key.of(["post", 1, Time.at(5, 7, :nsec)]), Key.of([:post, "1", Time.at(5, 7, :nsec)])
  end

  # A part may be what a user has typed.
  def test_no_two_keys_are_the_same
    keys = [
      ["a", "b"], ["ab"], ["a", "b", ""], ["a:b"], ["1:a", "b"], "[1:a1:b", [["a", "b"]], [["a"], "b"], ["nil"], [nil],
      [""], ["true"], [true],
      ["a", nil], ["a", "nil"], [1.5], ["1.50"], "a b", "\xff", ["\xff"], ["å"], "å", [2**70], [-5], [:åb],
      [Time.at(0)], [Time.at(0, 1, :nsec)], [Model.new("x"), 1], [Model.new("x"), 2], "4!true", ["4!true"],
      Dated.new(1, Time.at(0)), Dated.new(2, Time.at(0)), Dated.new(1, Time.at(1)), Dated.new(1, Date.new(2026, 1, 1)),
      [Date.new(2026, 1, 1)], [Date.new(2026, 1, 2)],
      [DateTime.new(2026, 1, 1, 0, 0, 1)], [DateTime.new(2026, 1, 1, 0, 0, 1.5r)], [Time.at(5, 7, :nsec)],
      [Time.at(5, 70, :nsec)], [Time.at(-5, 7, :nsec)]
    ]

    assert_equal keys.size, keys.map { |key| Key.of(key) }.uniq.size
  end

  def test_an_array_in_itself_is_no_key
    array = ["a"]
    array << array

    assert_match(/nested more than 100 levels/, assert_raises(ArgumentError) { Key.of(array) }.message)
    assert_raises(TypeError) { Pelton::HTTP::Fragment.key("a") {} }
    assert_raises(TypeError) { Pelton::HTTP::Fragment.key([1.5]) { 1 } }
  end

  # An object may change the Array that it is in, and collect garbage.
  def test_an_array_that_changes_meanwhile
    array = [1.5] + Array.new(200) { |n| "part #{n}" * 3 }
    key = Pelton::HTTP::Fragment.key(array) { |_| GC.start || array.replace(%w[x y]) && "first" }

    assert_equal "[5:first1:y", key
  end

  def test_what_says_nothing_is_no_key
    [nil, "", [], true, Object.new, ["a", Object.new]].each do |key|
      assert_raises(ArgumentError, key.inspect) { Key.of(key) }
    end
    assert_match(/define cache_key/, assert_raises(ArgumentError) { Key.of(Object.new) }.message)
  end
end
