# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

class LabRaceTest < PeltonTest
  def race(**options, &description)
    Pelton::Lab::Race.new("a race", size: 10, **options, &description || proc {})
  end

  def test_one_size_is_for_a_race_that_is_not_pinned
    assert_equal({free: 10}, race.sizes)
  end

  def test_a_size_that_was_asked_for_replaces_that_of_the_pinning
    several = race(size: {same: 20, apart: 30})

    assert_equal 20, several.size(:same)
    assert_equal 30, several.size(:apart)
    assert_equal 20, several.size(:free), "a pinning it has no size for"
    assert_equal 5, several.size(:apart, 5)
    assert_equal 30, race(size: {apart: 30}, fixed: true).size(:apart, 5)
  end

  def test_the_rehearsal_is_small
    assert_equal 10, race.rehearsal
    assert_equal 100, race(size: 5_000).rehearsal
    assert_equal 4, race(size: 5_000, rehearsal: 4).rehearsal
  end

  def test_a_process_for_each_round_unless_it_says_otherwise
    assert_equal 1, race.rounds_per_process
    assert_equal 5, race(rounds_per_process: 5).rounds_per_process
  end

  def test_the_full_size_where_it_is_asked_for
    assert_equal 10, race(full: 500).size(:free)
    assert_equal 500, race(full: 500).size(:free, full: true)
    assert_equal 10, race.size(:free, full: true)
  end

  def test_its_description
    assert_equal "sums", race { about "sums" }.about
    assert_nil race.about
  end

  def test_points_and_the_past
    declared = race do
      points "gets at once", [1, 10]
      past("An article", source: "2012") { row "then", real: 1 }
    end

    assert_equal ["gets at once", [1, 10]], declared.points.to_a
    assert_equal "An article", declared.past.title
    assert_nil race.points || race.past
  end

  def test_the_baseline_is_the_reference
    with = race do
      contender("other") {}
      baseline("known", style: "blocking") {}
    end

    assert_equal "known", with.reference.name
    assert_equal %w[other known], with.contenders.map(&:name)
    assert_nil race.reference
  end

  def test_a_target_is_of_the_metric_declared_before_it
    targets = race do
      target 1, "first", of: "a", at_most: 1
      metric :kb, "KB", digits: 1
      target 2, "second", of: "a", at_most: 1
      target 3, "third", of: "a", at_most: 1, metric: :cpu
    end.targets

    assert_equal %i[us_per_operation kb cpu], targets.map(&:metric)
  end

  def test_more_metrics_beside_the_one_that_is_compared
    declared = race do
      also :kb, "memory, KB", digits: 1
      also :cpu
    end

    assert_equal [[:kb, "memory, KB", 1], [:cpu, "cpu", 2]], declared.also.map(&:to_a)
    assert_equal :us_per_operation, declared.metric.name
    assert_empty race.also
  end

  def test_finds_a_contender_by_its_name
    known = race { contender("known") {} }

    assert_equal "known", known.find("known").name
    assert_raises(KeyError) { known.find("none") }
  end
end
