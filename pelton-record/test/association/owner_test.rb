# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

class OwnerTest < PeltonTest
  include Blog

  def test_an_object_keeps_its_collections
    assert_same ann.posts, ann.posts
    refute_same ann.posts, ann.tap(&:reload).posts
    assert_match(/no association :nobody/, assert_raises(ArgumentError) { ann.collection(:nobody) }.message)
  end

  def test_what_is_invalid_below_is_invalid_above
    author = Author.new(name: "x")
    author.posts.build(title: "y").build_author

    refute_predicate author, :valid?
  end
end
