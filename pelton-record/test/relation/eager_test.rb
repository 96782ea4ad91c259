# frozen_string_literal: true

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

  def test_conditions_on_what_is_included
    Post.delete_all
    one, two = Post.create!(title: "One", author: ann), Post.create!(title: "Two", author: ann)
    found = Author.includes(:posts).where(posts: {title: "One"}).to_a
    assert_equal [[ann], [one]], [found, found.first.posts.to_a]
    assert_equal [[one.id, two.id]], Author.where("posts.title IS NOT NULL").references(:posts).includes(:posts).order(:id).map { |author| author.posts.map(&:id).sort }
    Comment.create!(post: two, text: "deep")
    assert_equal [[two.id]], Author.includes(posts: :comments).where(comments: {text: "deep"}).map { |author| author.posts.map(&:id) }
  end

  def test_a_limit_counts_objects
    Post.delete_all
    2.times { Post.create!(title: "x", author: ann) }
    bob
    assert_equal [[ann.id, 2], [bob.id, 0]], Author.eager_load(:posts).order(:id).limit(2).map { |author| [author.id, author.posts.to_a.size] }
    assert_equal [2, ann, [ann.id, bob.id]], [Author.eager_load(:posts).count, Author.eager_load(:posts).order(:id).first, Author.eager_load(:posts).order(:id).ids]
  end
end
