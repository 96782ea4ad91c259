# frozen_string_literal: true

require_relative "../support/blog"

class JoinsTest < PeltonTest
  include Blog::WithPeople

  def setup
    super
    @one = Post.create!(title: "one", author: ann)
    @two = Post.create!(title: "two", author: bob)
    @comment = Comment.create!(text: "hm", post: @one)
  end

  def test_joined_tables_keep_their_names
    assert_equal [ann], Author.joins(:posts).where(posts: {title: "one"}).to_a
    assert_equal [ann], Author.joins(:posts).where("posts.title = ?", "one").to_a
    assert_equal [@one], Post.joins(:author).where(authors: {name: "Ann"}).to_a
    assert_equal [@one], Post.joins(:author).where(author: {name: "Ann"}).to_a
    assert_equal [ann], Author.joins(posts: :comments).where(comments: {text: "hm"}).to_a
    assert_equal [@comment], Comment.joins(post: :author).where(authors: {name: "Ann"}).to_a
    assert_equal [@one], Post.joins(:author, :comments).to_a
  end

  def test_a_table_that_is_joined_to_itself
    reply = Comment.create!(text: "reply", post: @one, parent: @comment)

    assert_equal [reply], Comment.joins(:parent).where(parent: {text: "hm"}).to_a
  end

  def test_values_of_joined_tables_are_cast
    assert_equal [ann], Author.joins(:posts).where(posts: {status: :draft, title: "one"}).to_a
    assert_empty Author.joins(:posts).where(posts: {id: "x"}).to_a
  end

  def test_left_joins
    assert_equal %w[Ann Bob Cid], Author.left_joins(:posts).order(:id).map(&:name)
    assert_equal [cid], Author.left_joins(:posts).where(posts: {id: nil}).to_a
  end

  def test_sql
    assert_equal [ann], Author.joins("JOIN posts ON posts.author_id = authors.id").where("posts.title = 'one'").to_a
  end

  def test_the_columns_are_the_model_s_own
    assert_equal Author.columns, Author.joins(:posts).first.values.keys
    assert_equal %w[Ann], Author.joins(:posts).where(posts: {title: "one"}).pluck(:name)
    assert_equal 2, Author.joins(:posts).count
    assert_equal({"Ann" => 1, "Bob" => 1}, Author.joins(:posts).group(:name).count)
  end

  def test_what_cannot_be_joined
    assert_match(/no association :nobody/, assert_raises(ArgumentError) { Author.joins(:nobody) }.message)
    assert_match(/polymorphic/, assert_raises(ArgumentError) { Note.joins(:notable) }.message)
  end
end
