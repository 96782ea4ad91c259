# frozen_string_literal: true

require_relative "support/blog"

class UniquenessTest < PeltonTest
  include Blog

  def test_a_value_that_another_has
    person = model(:Person) do
      self.table_name = "authors"
      validates :email, uniqueness: true, allow_nil: true
    end
    one = person.create!(name: "x", email: "a@b")

    assert_equal ["Email has already been taken"], person.new(email: "a@b").tap(&:valid?).errors.full_messages
    assert_predicate one, :valid?
    assert_predicate person.new(email: nil), :valid?
    two = person.create!(name: "y", email: "c@d")
    two.email = "a@b"

    refute_predicate two, :valid?
  end

  def test_scopes_and_case
    person = model(:Scoped) do
      self.table_name = "authors"
      validates :name, uniqueness: {scope: :age, case_sensitive: false, conditions: -> { where.not(email: nil) }}
    end
    person.create!(name: "Ann", age: 1, email: "x")

    refute_predicate person.new(name: "ANN", age: 1), :valid?
    assert_predicate person.new(name: "ANN", age: 2), :valid?
    person.where(name: "Ann").update_all(email: nil)

    assert_predicate person.new(name: "Ann", age: 1), :valid?
  end

  def test_nothing_is_asked_when_nothing_has_changed
    person = model(:Unchanged) do
      self.table_name = "authors"
      validates_uniqueness_of :name
    end
    one = person.create!(name: "x")

    assert_empty(queries { one.valid? })
  end
end
