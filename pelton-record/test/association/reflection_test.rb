# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

class ReflectionTest < PeltonTest
  include Blog

  def test_names
    posts, tags, author, notable = Author.reflect_on_association(:posts), Author.reflect_on_association("tags"), Post.reflect_on_association(:author), Note.reflect_on_association(:notable)
    assert_equal [:posts, :has_many, Post, :author_id, true, false], [posts.name, posts.macro, posts.klass, posts.foreign_key, posts.collection?, posts.polymorphic?]
    assert_equal [:has_many, Tag], [tags.macro, tags.klass]
    assert_equal [:belongs_to, false], [author.macro, author.collection?]
    assert_equal [:belongs_to, true], [notable.macro, notable.polymorphic?]
    assert_equal :has_and_belongs_to_many, Post.reflect_on_association(:editors).macro
    assert_nil Author.reflect_on_association(:nothing)
  end

  def test_all
    assert_equal [:profile], Author.reflect_on_all_associations(:has_one).map(&:name)
    assert_equal %i[comments notes posts tags], Author.reflect_on_all_associations(:has_many).map(&:name).sort
  end

  def test_a_class_that_is_not_there
    lost = model(:Lost) do
      self.table_name = "authors"
      has_many :nowhere
    end
    assert_includes assert_raises(NameError) { lost.reflect_on_association(:nowhere).klass }.message, "class_name:"
  end
end
