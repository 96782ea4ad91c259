# frozen_string_literal: true

require_relative "support/blog"

class DirtyTest < PeltonTest
  include Blog

  def test_changes
    refute_predicate ann, :changed?
    ann.name = "Anna"

    assert_predicate ann, :changed?
    assert_equal [%w[name], {"name" => %w[Ann Anna]}], [ann.changed, ann.changes]
    assert_predicate ann, :name_changed?
    refute_predicate ann, :age_changed?
    assert_equal ["Ann", %w[Ann Anna]], [ann.name_was, ann.name_change]
    assert ann.attribute_changed?(:name, from: "Ann", to: "Anna")
    refute ann.attribute_changed?(:name, from: "Bob")
    ann.name = "Ann"

    refute_predicate ann, :changed?
    ann.name = "X"
    ann.restore_attributes

    assert_equal ["Ann", false], [ann.name, ann.changed?]
  end

  def test_saved_changes
    assert_equal [nil, "Ann"], ann.saved_changes["name"]
    ann.update!(name: "Anna")

    assert_equal %w[Ann Anna], ann.saved_changes[:name]
    assert_predicate ann, :saved_changes?
    assert_predicate ann, :saved_change_to_name?
    refute_predicate ann, :saved_change_to_age?
    assert_equal ["Ann", %w[Ann Anna]], [ann.name_before_last_save, ann.saved_change_to_name]
    ann.save!

    refute_predicate ann, :saved_changes?
  end

  def test_a_new_object
    author = Author.new(name: "New")

    assert_equal [true, %w[name], {"name" => [nil, "New"]}], [author.changed?, author.changed, author.changes]
    assert_predicate author, :name_changed?
    refute_predicate Author.new, :changed?
  end

  def test_only_changes_are_written
    ann.name = "Ann"

    assert_empty(queries { ann.save! }.grep(/UPDATE/))
    sql = queries { ann.update!(age: 44) }.grep(/UPDATE/).first

    refute_match(/email/, sql)
  end

  def test_a_change_in_place_is_announced
    ann.name_will_change!
    ann.name << "!"
    ann.save!

    assert_equal "Ann!", ann.reload.name
  end
end
