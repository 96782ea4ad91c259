# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

class EagerTest < PeltonTest
  include Blog

  def setup
    super
    [ann, bob].each { |author| Post.create!(title: "by #{author.name}", author: author).comments.create!(text: "hm") }
  end

  def test_includes_loads_with_a_query_for_each_association
    posts = nil

    assert_equal 3, queries { posts = Post.includes(:author, :comments).order(:id).to_a }.size
    assert_empty(queries { assert_equal %w[Ann Bob], posts.map { |post| post.author.name } })
    assert_empty(queries { assert_equal [1, 1], posts.map { |post| post.comments.size } })
  end

  def test_nested_associations
    authors = Author.preload(posts: :comments).to_a

    assert_empty(queries { assert_equal %w[hm hm], authors.flat_map { |author| author.posts.flat_map { |post| post.comments.map(&:text) } } })
  end

  def test_eager_load_joins
    posts = nil

    assert_equal 1, queries { posts = Post.eager_load(:author).where(authors: {name: "Bob"}).to_a }.size
    assert_empty(queries { assert_equal [bob], posts.map(&:author) })
    authors = Author.eager_load(:posts).order(:id).to_a

    assert_empty(queries { assert_equal ["by Ann", "by Bob"], authors.flat_map { |author| author.posts.map(&:title) } })
  end
end
