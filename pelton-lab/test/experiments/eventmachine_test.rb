# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabEventmachineExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("eventmachine")).first
  end

  def test_the_row_of_the_targets
    assert_equal [25] * 3, @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_the_gem_is_the_baseline_everywhere
    assert_equal ["eventmachine"], @experiment.races.map { |race| race.reference.gem }.uniq
  end
end
