# frozen_string_literal: true

require_relative "support/blog"

class TimestampsTest < PeltonTest
  include Blog

  def test_they_are_set
    assert_in_delta Time.now.to_f, ann.reload.created_at.to_f, 60
    ann.update_columns(created_at: Time.at(0), updated_at: Time.at(0))
    ann.update!(age: 21)

    assert_equal 0, ann.reload.created_at.to_i
    assert_operator ann.updated_at, :>, Time.at(0)
  end

  def test_they_are_left_alone
    ann.update_columns(updated_at: Time.at(0))
    ann.save!

    assert_equal 0, ann.reload.updated_at.to_i
    ann.age = 1
    ann.save(touch: false)

    assert_equal 0, ann.reload.updated_at.to_i
    assert_equal 5, Author.create!(name: "x", created_at: Time.at(5)).reload.created_at.to_i
    quiet = model(:Quiet) do
      self.table_name = "authors"
      self.record_timestamps = false
    end

    assert_nil quiet.create!(name: "x").created_at
  end
end
