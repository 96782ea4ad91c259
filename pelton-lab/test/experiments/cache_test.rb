# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabCacheExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("cache")).first
  end

  def test_every_race_has_a_target
    assert_empty @experiment.races.select { |race| race.targets.empty? }.map(&:name)
  end

  def test_the_embedded_server_is_compared_with_memcached
    races = @experiment.races.select { |race| race.name.include?("embedded") }

    assert_equal [%w[memcached item_bytes]] * 2, races.map { |race| [race.reference.name, race.targets.last.metric.to_s] }
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
