# frozen_string_literal: true

require_relative "support/blog"

class AssociationsTest < PeltonTest
  include Blog

  def test_belongs_to
    post = Post.create!(title: "x", author: ann)

    assert_equal [ann, ann.id], [Post.find(post.id).author, post.author_id]
    post.update!(author: bob)

    assert_equal bob, post.reload.author
    assert_equal cid, post.tap { |one| one.author_id = cid.id }.author
    assert_equal ["Author must exist"], Post.new.tap(&:valid?).errors.full_messages
    refute post.update(author: nil)
    assert_predicate Comment.new(post: post), :valid?
    assert_nil Comment.new(post: post).parent
    assert_raises(ArgumentError) { Post.new(author: post) }
    assert_raises(ArgumentError) { Post.new(author: 5) }
  end

  def test_the_parent_is_not_asked_for_when_nothing_has_changed
    post = Post.find(Post.create!(title: "x", author: ann).id)

    assert_empty(queries { post.valid? })
  end

  def test_has_many
    post = Post.create!(title: "x", author: ann)

    assert_equal [post], ann.posts.to_a
    assert_equal [post.id], ann.post_ids
    ann.posts = []

    assert_equal 0, Post.where(author_id: ann.id).count
    other = Post.create!(title: "y", author: bob)
    ann.post_ids = [other.id, ""]

    assert_equal ann, other.reload.author
  end

  def test_has_one
    profile = ann.create_profile(bio: "b")

    assert_equal [profile, ann], [Author.find(ann.id).profile, profile.author]
    ann.profile = Profile.create!(bio: "c", author: bob)

    assert_equal "c", ann.reload.profile.bio
    assert_nil profile.reload.author_id
    assert_nil bob.reload.profile
  end

  def test_has_and_belongs_to_many
    post = Post.create!(title: "x", author: ann)
    post.editors << bob
    post.editors.create!(name: "New")

    assert_equal %w[Bob New], post.reload.editors.order(:id).map(&:name)
    post.editors.delete(bob)

    assert_equal %w[New], post.reload.editors.map(&:name)
    assert Author.exists?(bob.id)
    post.editors = [ann]

    assert_equal [ann], post.reload.editors.to_a
  end

  def test_an_association_takes_no_block
    model = Class.new(Pelton::Record::Model)
    %i[belongs_to has_one has_many has_and_belongs_to_many].each do |call|
      assert_match(/\A#{call} :things takes no block/, assert_raises(ArgumentError) { model.public_send(call, :things) { order(:id) } }.message)
    end
  end

  def test_scopes_of_associations
    post = Post.create!(title: "x", author: ann)
    texts = %w[b a].map { |text| post.comments.create!(text: text).text }

    assert_equal texts, post.reload.comments.map(&:text)
    assert_equal texts, Post.includes(:comments).first.comments.map(&:text)
    recent = model(:Recent) do
      self.table_name = "posts"
      has_many :comments, -> { where(text: "a") }, class_name: "Blog::Comment", foreign_key: :post_id
    end

    assert_equal ["a"], recent.find(post.id).comments.map(&:text)
    assert_equal [["a"]], recent.includes(:comments).map { |one| one.comments.map(&:text) }
  end

  def test_a_tree
    post = Post.create!(title: "x", author: ann)
    root = post.comments.create!(text: "root")
    reply = root.replies.create!(text: "reply", post: post)

    assert_equal [[reply], root], [root.reload.replies.to_a, reply.reload.parent]
  end
end
