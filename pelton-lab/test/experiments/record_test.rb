# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_record_test.rb.
class LabRecordExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("record")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [17, 17, 18, 19], @experiment.races.flat_map(&:targets).map(&:row).sort
  end

  def test_all_pages_are_served_by_the_same_contenders
    assert_equal 1, @experiment.races.map { |race| race.contenders.map(&:name) }.uniq.size
    assert_equal ["Rails, Puma"], @experiment.races.map { |race| race.reference.name }.uniq
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
