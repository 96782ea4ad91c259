# frozen_string_literal: true

require_relative "../support/blog"

class ThroughTest < PeltonTest
  include Blog

  def setup
    super
    @post = Post.create!(title: "one", author: ann)
    @red, @blue = %w[red blue].map { |name| Tag.create!(name: name) }
  end

  def test_a_join_model
    @post.tags << @red
    green = @post.tags.create!(name: "green")

    assert_equal [@red, green], @post.reload.tags.order(:id).to_a
    assert_equal [@post], green.posts.to_a
    assert_equal 2, @post.taggings.count
    @post.tags.delete(@red)

    assert_equal [[green], true], [@post.reload.tags.to_a, Tag.exists?(@red.id)]
    @post.tags = [@red, @blue]

    assert_equal [@red, @blue], @post.reload.tags.order(:id).to_a
    assert_equal [@post], Post.joins(:tags).where(tags: {name: "blue"}).to_a
  end

  def test_two_steps_down
    comment = @post.comments.create!(text: "c")

    assert_equal [comment], ann.comments.to_a
    assert_equal [comment], Author.includes(:comments).find_by(name: "Ann").comments.to_a
    assert_raises(ArgumentError) { ann.comments << Comment.new }
  end

  # As after a boot: the first fiber waits for the tables' columns.
  def test_fibers_that_ask_at_once_for_one_that_is_not_defined_yet
    author = model(:Writer) do
      self.table_name = "authors"
      has_many :posts, class_name: "Blog::Post", foreign_key: :author_id
      has_many :comments, through: :posts
      define_singleton_method(:source_of) { |*arguments| sleep(0.001).then { super(*arguments) } }
    end
    comment = @post.comments.create!(text: "c")
    id = ann.id
    Pelton.run do
      assert_equal [[comment]] * 3, Array.new(3) { Pelton.spawn { author.find(id).comments.to_a } }.map(&:await)
    end
  end

  def test_one_that_goes_through_itself
    circle = model(:Circle) do
      self.table_name = "posts"
      has_many :things, through: :things
    end
    assert_match(/no association :things to go through/, assert_raises(ArgumentError) { circle.find(@post.id).things.to_a }.message)
  end

  def test_up_and_down
    sibling = model(:Sibling) do
      self.table_name = "posts"
      belongs_to :author, class_name: "Blog::Author"
      has_many :siblings, through: :author, source: :posts
      has_one :profile, through: :author
    end
    Post.create!(title: "two", author: ann)
    profile = ann.create_profile(bio: "b")

    assert_equal %w[one two], sibling.find(@post.id).siblings.order(:id).map(&:title)
    assert_equal profile, sibling.find(@post.id).profile
    assert_equal([profile, profile], sibling.all.map(&:profile))
  end

  def test_polymorphic_rows_in_the_middle
    writer = model(:Writer) do
      self.table_name = "authors"
      has_many :notes, as: :notable, class_name: "Blog::Note"
      has_many :posts, class_name: "Blog::Post", foreign_key: :author_id
      has_many :post_notes, through: :posts, source: :notes
    end
    note = @post.notes.create!(text: "n")
    Note.create!(notable: bob, text: "another's, with an id that a post may have")

    assert_equal [note.id], writer.find(ann.id).post_notes.map(&:id)
  end

  def test_what_cannot_be
    broken = model(:Broken) do
      self.table_name = "posts"
      has_many :things, through: :nobody
      has_many :taggings, class_name: "Blog::Tagging", foreign_key: :post_id
      has_many :others, through: :taggings
    end

    assert_match(/no association :nobody to go through/, assert_raises(ArgumentError) { broken.find(@post.id).things.to_a }.message)
    assert_match(/has no association others. Name it by source/, assert_raises(ArgumentError) { broken.find(@post.id).others.to_a }.message)
  end

  class Person < Pelton::Record::Model
    self.table_name = "authors"
    has_many :posts, class_name: "Blog::Post", foreign_key: :author_id
    has_many :taggings, through: :posts
    has_many :tags, through: :taggings
    has_many :drafts, -> { where(status: :draft) }, class_name: "Blog::Post", foreign_key: :author_id
    has_many :draft_taggings, through: :drafts, source: :taggings
    has_many :draft_tags, -> { order(name: :desc) }, through: :draft_taggings, source: :tag
    has_many :post_notes, through: :posts, source: :notes
    has_one :first_tag, -> { order(:id) }, through: :taggings, source: :tag
  end

  def test_through_a_through
    first, second = Post.create!(title: "One", author: ann), Post.create!(title: "Two", author: ann, status: :published)
    red, blue, green = %w[red blue green].map { |name| Tag.create!(name: name) }
    [[first, red], [first, blue], [second, green]].each { |post, tag| post.tags << tag }
    person = Person.find(ann.id)
    assert_equal [[red, blue, green], [red, blue]], [person.tags.order(:id).to_a, person.draft_tags.to_a]
    assert_equal [3, [red.id, blue.id, green.id], true, red], [person.tags.count, person.tag_ids.sort, person.tags.include?(green), person.first_tag]
    bob
    assert_equal(2, queries { assert_equal [3, 0], Person.order(:id).map { |one| one.tags.to_a.size } }.size)
    assert_equal(2, queries { assert_equal [2, 0], Person.order(:id).includes(:draft_tags).map { |one| one.draft_tags.to_a.size } }.size)
    assert_equal [ann.id], Person.joins(:tags).where(tags: {name: "green"}).ids
    assert_equal [bob.id], Person.where.missing(:tags).ids
    assert_raises(ArgumentError) { person.tags << red }
    assert_equal %w[blue red], Person.joins(:draft_tags).order("tags.name").pluck("tags.name")
  end

  def test_what_a_polymorphic_association_says_on_the_way
    post = Post.create!(title: "One", author: ann)
    note = post.notes.create!(text: "of the post")
    Note.create!(notable: ann, text: "of an author").update_columns(notable_id: post.id)
    person = Person.find(ann.id)
    assert_equal [note], person.post_notes.to_a
    assert_equal [[note]], Person.includes(:post_notes).map { |one| one.post_notes.to_a }
    assert_equal ["of the post"], Person.joins(:post_notes).pluck("notes.text")
  end
end
