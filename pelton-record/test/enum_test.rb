# frozen_string_literal: true

require_relative "support/blog"

class EnumTest < PeltonTest
  include Blog

  def setup
    super
    @post = Post.create!(title: "x", author: ann)
  end

  def test_words_for_numbers
    assert_equal ["draft", true, false], [@post.status, @post.draft?, @post.published?]
    assert_equal 0, database[:posts].get(:status)
    @post.published!

    assert_equal [1, "published"], [database[:posts].get(:status), @post.reload.status]
    @post.status = 0

    assert_equal "draft", @post.status
    assert_equal({"draft" => 0, "published" => 1}, Post.statuses)
    assert_equal 1, Post.statuses[:published]
  end

  def test_queries
    assert_equal [[@post], []], [Post.draft.to_a, Post.published.to_a]
    assert_equal [@post], Post.not_published.to_a
    assert_equal [[@post], [@post], [@post]], [Post.where(status: :draft), Post.where(status: "draft"), Post.where(status: [:draft, 1])].map(&:to_a)
    assert_empty Post.where(status: "nonsense").to_a
    assert_equal ["draft"], Post.pluck(:status)
  end

  def test_what_is_no_value
    assert_equal "'nonsense' is not a valid status", assert_raises(ArgumentError) { Post.new(status: "nonsense") }.message
  end

  def test_names_of_methods
    two = model(:Two) do
      self.table_name = "posts"
      enum :status, {open: 5, closed: 6}, prefix: true
      enum :title, {dr: "Dr", prof: "Prof"}, suffix: :person, scopes: false
    end
    one = two.create!(status: :open, title: :dr)

    assert_equal [true, true, 5, "Dr"], [one.status_open?, one.dr_person?, database[:posts].where(id: one.id).get(:status), database[:posts].where(id: one.id).get(:title)]
    assert_equal [one], two.status_open.to_a
    refute_respond_to two, :dr_person
  end

  def test_a_validated_enum
    checked = model(:Checked) do
      self.table_name = "posts"
      enum :status, {open: 0}, validate: true, instance_methods: false
    end
    one = checked.new(status: "odd")
    assert_equal ["Status is not included in the list"], one.tap(&:valid?).errors.full_messages
    assert_equal [true, false], [checked.new(status: "open").valid?, one.respond_to?(:open?)]
  end
end
