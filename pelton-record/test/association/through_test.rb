# frozen_string_literal: true

require "test_helper"
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
end
