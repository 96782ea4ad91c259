# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabBrokerExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("broker")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [14, 15, 15, 16, 16], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_both_values_are_asked_for_in_the_same_ways
    assert_equal 1, @experiment.races.map { |race| race.contenders.map(&:name) }.uniq.size
    assert_equal ["nginx, memcached_pass"], @experiment.races.map { |race| race.reference.name }.uniq
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
