# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabMemcachedExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("memcached")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [1, 2, 4, 5, 6, 3, 10], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_all_styles_run_beside_blocking_peers_on_one_core_and_on_two
    race = @experiment.find("set, get, delete")

    assert_equal %w[blocking callback deferrable direct], race.contenders.map(&:style).uniq.sort
    assert_equal "libmemcached", race.reference.name
    assert_equal({same: 20_000, apart: 100_000}, race.sizes)
  end

  def test_the_same_further_away
    race = @experiment.find("the same, further away")

    assert_equal [0, 0.2, 1, 10], race.latencies
    assert_equal @experiment.find("set, get, delete").contenders.map(&:name), race.contenders.map(&:name)
  end

  def test_the_articles_table
    assert_equal [1.0, 1.92], @experiment.find("set, get, delete").past.then { |past| past.rows.map { |row| past.ratio(row).round(2) } }
    assert_equal 33.14, @experiment.find("set, get, delete").past.rows.last.total.round(2)
  end

  def test_the_server_counts_each_operation
    counts = @experiment.find("set, get, delete").expected_counts.call(7)

    assert_equal({cmd_set: 7, get_hits: 7, get_misses: 0, delete_hits: 7, delete_misses: 0}, counts)
  end
end
