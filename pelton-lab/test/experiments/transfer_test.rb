# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabTransferExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("transfer")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [7, 7, 8, 8, 9], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_the_same_receivers_everywhere
    assert_equal 1, @experiment.races.map { |race| race.contenders.map(&:name) }.uniq.size
    assert_equal ["Ruby, readpartial"], @experiment.races.map { |race| race.reference.name }.uniq
  end

  def test_the_articles_results
    assert_equal [6.9, 6.9, 1.0], @experiment.races.map { |race| race.past.ratio(race.past.rows.last).round(1) }
  end

  def test_the_slow_line_is_the_articles
    assert_equal({chunk: 0.01}, @experiment.find("through a slow line").link)
  end
end
