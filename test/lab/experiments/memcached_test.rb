# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/lab"

# What it declares; it is run in test/integration/lab_test.rb.
class LabMemcachedExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("memcached")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [1, 2, 4, 5, 6, 3, 10], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_each_target_is_of_a_contender
    @experiment.races.each { |race| race.targets.each { |target| assert race.find(target.contender) } }
  end

  def test_all_styles_run_beside_blocking_peers_on_one_core_and_on_two
    race = @experiment.find("set, get, delete")

    assert_equal %w[blocking callback deferrable direct], race.contenders.map(&:style).uniq.sort
    assert_equal "libmemcached", race.reference.name
    assert_equal({same: 20_000, apart: 100_000}, race.sizes)
  end

  def test_the_server_counts_each_operation
    counts = @experiment.find("set, get, delete").expected_counts.call(7)

    assert_equal({cmd_set: 7, get_hits: 7, get_misses: 0, delete_hits: 7, delete_misses: 0}, counts)
  end
end
