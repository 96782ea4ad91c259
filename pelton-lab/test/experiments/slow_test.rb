# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabSlowExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("slow")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [13, 13], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_the_articles_results
    assert_equal [1.0, 0.204], @experiment.find("five at once").past.then { |past| past.rows.map { |row| past.ratio(row).round(3) } }
  end

  def test_the_articles_numbers_of_requests
    assert_equal [10, 40, 2_000], @experiment.races.map { |race| race.sizes.fetch(:apart) }
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
