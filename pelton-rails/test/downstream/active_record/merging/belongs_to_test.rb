# frozen_string_literal: true

require_relative "../../../support/merging_program"

class MergingBelongsToTest < PeltonTest
  include MergingProgram

  SETUP = <<~RUBY
    Person.update_all(boss_id: BASE)
    people = Person.order(:id).limit(3).to_a
  RUBY

  def test_loads_at_the_same_moment_share_a_query
    assert_equal "[1, [\"p0\"], true]\n", merging_output(<<~RUBY)
      #{SETUP}
      sent = queries { together(people, &:boss) }
      p [sent, people.map { |person| person.boss.email }.uniq, people.first.association(:boss).loaded?]
    RUBY
  end

  def test_strict_loading_is_active_records_own_error
    assert_equal "[ActiveRecord::StrictLoadingViolationError]\n", merging_output(<<~RUBY)
      #{SETUP}
      people.each(&:strict_loading!)
      p together(people, &:boss).map(&:class).uniq
    RUBY
  end

  def test_a_scope_of_the_association_and_a_missing_row
    assert_equal "[[nil, nil], [nil, nil, nil]]\n", merging_output(<<~RUBY)
      #{SETUP}
      Person.belongs_to(:chief, -> { where(email: "none") },
        class_name: "Person", foreign_key: :boss_id, optional: true)
      none = people.first(2).map { |person| Person.find(person.id).chief }
      Person.update_all(boss_id: 0)
      p [none, together(people.each(&:reload), &:boss)]
    RUBY
  end
end
