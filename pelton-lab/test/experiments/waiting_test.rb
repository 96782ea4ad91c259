# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabWaitingExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("waiting")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [23], @experiment.races.flat_map(&:targets).map(&:row).uniq
  end

  def test_each_target_is_a_limit_of_its_own_for_a_contender
    @experiment.races.each do |race|
      race.targets.each do |target|
        assert race.find(target.contender)
        refute_nil target.unit
      end
    end
  end
end
