# frozen_string_literal: true

require_relative "../support/blog"

class CollectionTest < PeltonTest
  include Blog

  def setup
    super
    @post = Post.create!(title: "one", author: ann)
    ann.reload
  end

  def test_it_is_a_query_until_it_is_read
    assert_equal(1, queries { assert_equal 1, ann.posts.where(title: "one").count }.size)
    assert_equal(1, queries { 2.times { assert_equal [@post], ann.posts.to_a } }.size)
    assert_empty(queries { assert_equal [1, false, [@post.id], true], [ann.posts.size, ann.posts.empty?, ann.posts.ids, ann.posts.include?(@post)] })
    assert_equal [@post], ann.posts.draft.order(:id).to_a
    assert_equal @post, ann.posts.find(@post.id)
    assert_equal @post, ann.posts.find_by(title: "one")
    assert_same ann, ann.posts.first.author if ann.posts.loaded?
  end

  def test_the_size_is_the_counter_s
    assert_empty(queries { assert_equal 1, ann.posts.size })
    assert_equal(1, queries { assert_equal 0, @post.comments.size }.size)
  end

  def test_creating
    post = ann.posts.create!(title: "two")

    assert_equal [ann.id, true], [post.author_id, post.persisted?]
    assert_equal [@post, post], ann.posts.to_a
    third = ann.posts.create(title: "three")

    assert_equal [@post, post, third], ann.posts.to_a
    assert_equal ann.id, ann.posts.where(title: "four").create!.author_id
    assert_equal 2, ann.posts.create([{title: "a"}, {title: "b"}]).size
    assert_raises(Pelton::Record::NotSaved) { Author.new(name: "x").posts.create!(title: "y") }
  end

  def test_building
    post = ann.posts.build(title: "built")

    assert_equal [true, ann, ann.id], [post.new?, post.author, post.author_id]
    assert_equal [@post, post], ann.posts.to_a
    ann.save!

    assert_equal %w[one built], ann.reload.posts.order(:id).map(&:title)
  end

  def test_a_new_owner_saves_its_own
    author = Author.new(name: "New", posts: [Post.new(title: "a")])
    author.posts.build(title: "b")
    author.posts << Post.new(title: "c")

    assert_equal [3, true], [author.posts.size, author.posts.loaded?]
    author.save!

    assert_equal %w[a b c], author.reload.posts.order(:id).pluck(:title)
    assert_empty Author.new.posts.where(title: "x").to_a
  end

  def test_adding
    other = Post.create!(title: "other", author: bob)
    ann.posts << other

    assert_equal [ann, true], [other.reload.author, ann.posts.include?(other)]
    ann.posts.push(Post.new(title: "p"), Post.new(title: "q"))

    assert_equal 4, ann.posts.count
    assert_raises(ArgumentError) { ann.posts << bob }
    assert_raises(ArgumentError) { ann.posts = [bob] }
  end

  def test_taking_out
    comment = @post.comments.create!(text: "c")
    @post.comments.to_a
    @post.comments.delete(comment)

    refute Comment.exists?(comment.id)
    assert_empty @post.comments.to_a
    ann.posts.delete(@post)

    refute Post.exists?(@post.id)
    note = ann.notes.create!(text: "n")
    ann.notes.delete(note)

    assert_equal [nil, nil], note.reload.then { |one| [one.notable_id, one.notable_type] }
    ann.notes.create!(text: "m")
    ann.notes.clear

    assert_equal 0, ann.notes.count
    ann.posts.create!(title: "z")
    ann.posts.destroy_all

    assert_equal 0, ann.posts.count
  end

  def test_replacing
    kept, gone = %w[kept gone].map { |text| @post.comments.create!(text: text) }
    @post.comments.replace([kept, Comment.new(text: "new")])

    assert_equal %w[kept new], @post.reload.comments.map(&:text)
    refute Comment.exists?(gone.id)
  end

  def test_reading_again
    ann.posts.to_a
    Post.create!(title: "new", author_id: ann.id)

    assert_equal 1, ann.posts.to_a.size
    assert_equal 2, ann.posts.reload.size
  end
end
