# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabFindsExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("finds")).first
  end

  def test_each_question_for_each_database
    titles = ["one after the other", "a thousand at once", "all rows"]

    assert_equal %w[SQLite PostgreSQL MariaDB].flat_map { |name| titles.map { |title| "#{title}, #{name}" } }, @experiment.races.map(&:name)
  end

  def test_records_own_targets
    assert_equal ["Record", "Record, a fiber each"], @experiment.races.flat_map(&:targets).map(&:contender).uniq
  end
end
