# frozen_string_literal: true

require_relative "../support/blog"

class NestedTest < PeltonTest
  include Blog

  class Writer < Pelton::Record::Model
    self.table_name = "authors"
    permits :name, :entries_attributes
    has_many :entries, foreign_key: :author_id
    has_one :profile, class_name: "Blog::Profile", foreign_key: :author_id
    accepts_nested_attributes_for :entries, allow_destroy: true, reject_if: :all_blank, limit: 3
    accepts_nested_attributes_for :profile, update_only: true
  end

  class Entry < Pelton::Record::Model
    self.table_name = "posts"
    belongs_to :writer, foreign_key: :author_id
    validates :title, presence: true
  end

  def test_built_updated_and_destroyed_with_the_owner
    one = Writer.create!(name: "W", entries_attributes: [{title: "a"}, {title: ""}, {title: "b"}])
    one.update(profile_attributes: {bio: "x"})
    assert_equal [%w[a b], "x"], [one.entries.reload.map(&:title), one.reload.profile.bio]
    first, second = one.entries.map(&:id)
    assert one.update(entries_attributes: {"0" => {id: first.to_s, title: "A"}, "1" => {id: second, _destroy: "1"}}, profile_attributes: {bio: "y"})
    assert_equal [["A"], "y", 1], [Post.where(author_id: one.id).pluck(:title), Profile.first.bio, Profile.count]
    assert_equal ["A"], one.entries.map(&:title)
  end

  def test_all_are_destroyed
    one = Writer.create!(name: "W", entries_attributes: [{title: "a"}, {title: "b"}, {title: "c"}])
    one.update!(entries_attributes: one.entries.map { |entry| {id: entry.id, _destroy: true} })
    assert_equal [0, []], [Entry.count, one.entries.to_a]
  end

  def test_another_s_objects_are_not_found
    one = Writer.create!(name: "W")
    other = Post.create!(title: "theirs", author: ann)
    assert_raises(Pelton::Record::NotFound) { one.update(entries_attributes: [{id: other.id, title: "mine"}]) }
    assert_equal "theirs", other.reload.title
    assert_raises(ArgumentError) { one.update(entries_attributes: [{title: "1"}] * 4) }
  end

  def test_what_comes_from_outside_names_what_both_models_permit
    error = assert_raises(Pelton::Record::Forbidden) { Writer.new("entries_attributes" => [{"title" => "a"}]) }
    assert_includes error.message, '"title"'
  end

  def test_errors_are_the_owner_s
    one = Writer.create!(name: "W", entries_attributes: [{title: "a"}])
    assert_equal ["Entries title can't be blank"], Writer.new(entries_attributes: [{status: 1}]).tap(&:valid?).errors.full_messages
    assert_equal false, one.update(entries_attributes: [{id: one.entries.first.id, title: ""}])
    assert_equal ["Entries title can't be blank"], one.errors.full_messages
  end

  def test_autosave
    kept = model(:Kept) do
      self.table_name = "posts"
      belongs_to :author, class_name: "Blog::Author", autosave: true
      has_many :comments, class_name: "Blog::Comment", foreign_key: :post_id, autosave: true
    end
    one = kept.create!(title: "x", author: ann)
    Comment.create!(post_id: one.id, text: "old")
    one.author.name = "Anna"
    one.comments.first.then { one.comments.load.first.text = "new" }
    one.save!
    assert_equal %w[Anna new], [ann.reload.name, Comment.first.text]
    one.comments.first.mark_for_destruction
    one.save!
    assert_equal [0, []], [Comment.count, one.comments.to_a]
  end

  class Pair < Pelton::Record::Model
    self.table_name = "comments"
    belongs_to :parent, class_name: "NestedTest::Pair", optional: true, autosave: true
    has_many :children, class_name: "NestedTest::Pair", foreign_key: :parent_id, inverse_of: :parent, autosave: true
    validates :text, presence: true
  end

  def test_objects_that_save_each_other
    parent = Pair.create!(text: "p")
    child = parent.children.create!(text: "c")
    child.parent.text = "P"
    parent.children.load.each { |one| one.text = "C" }
    assert [parent.save, child.save].all?
    assert_equal %w[P C], [parent.reload.text, child.reload.text]
    parent.children.first.text = ""
    parent.children.load.first.text = ""
    assert_equal [false, ["Children text can't be blank"]], [parent.save, parent.errors.full_messages]
  end
end
