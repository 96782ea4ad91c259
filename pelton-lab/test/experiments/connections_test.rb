# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabConnectionsExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("connections")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [21, 21, 21, 22, 22, nil, 29], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_each_target_is_of_pelton_and_all_but_one_are_absolute
    targets = @experiment.races.flat_map(&:targets)

    assert_equal [["Pelton"], [29]], [targets.map(&:contender).uniq, targets.reject(&:unit).map(&:row)]
  end

  def test_as_many_as_the_targets_say
    assert_equal [10_000, 100], @experiment.races.first(2).map { |race| race.sizes.fetch(:apart) }
  end

  def test_pelton_takes_part_in_every_round_and_so_does_nginx_where_it_is_compared_with_it
    everywhere = @experiment.races.map { |race| race.contenders.select { |contender| contender.rounds(7) == 7 }.map(&:name) }

    assert_equal [["Pelton"], ["Pelton"], ["nginx, sendfile", "Pelton"], ["nginx, proxy to a static upstream", "Pelton"]], everywhere
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
