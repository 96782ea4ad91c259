# frozen_string_literal: true

require "test_helper"
require_relative "some_comparison"
require "pelton/lab/latency_sweep"

class LabLatencySweepTest < PeltonTest
  LatencySweep = Pelton::Lab::LatencySweep

  def test_comparisons_of_one_race_and_pinning_belong_together
    sweeps = LatencySweep.of([SomeComparison.new, *SomeComparison.sweep, SomeComparison.new])

    assert_equal [1, 3, 1], sweeps.map { |sweep| sweep.comparisons.size }
    assert_equal [false, true, false], sweeps.map(&:several?)
    assert_equal "sweep", sweeps[1].race.name
    assert_equal :free, sweeps[1].pin
  end

  def test_rivals_are_all_but_the_baseline_that_were_measured
    assert_equal %w[fast never], LatencySweep.new(SomeComparison.sweep).rivals
    assert_equal %w[fast], LatencySweep.new([SomeComparison.new]).rivals
  end

  def test_one_overtakes_where_the_ratio_falls_below_one
    sweep = LatencySweep.new(SomeComparison.sweep)

    assert_in_delta 1.5, sweep.overtakes("fast"), 1e-9, "half way between twice and half the time"
    assert_nil sweep.overtakes("never")
    assert_nil sweep.overtakes("nobody")
  end

  def test_one_that_is_ahead_everywhere_is_ahead_from_the_first_latency
    assert_in_delta 2.0, LatencySweep.new(SomeComparison.sweep.last(1)).overtakes("fast")
  end

  def test_one_that_falls_behind_again_has_not_overtaken
    comparisons = SomeComparison.sweep
    comparisons[2]["fast"].refuse("to be measured anew")
    3.times { comparisons[2]["fast"].add(SomeComparison.microseconds(1000)) }

    assert_nil LatencySweep.new(comparisons).overtakes("fast")
  end

  def test_a_comparison_that_was_skipped_is_no_part_of_the_curve
    comparisons = SomeComparison.sweep
    comparisons[1].skipped = "the server left"

    assert_equal [0, 2], LatencySweep.new(comparisons).measured.map(&:latency)
  end

  def test_at_which_number_at_once_one_overtakes
    sweep = LatencySweep.new(comparisons = SomeComparison.grid)

    assert_in_delta Math.sqrt(10), sweep.overtakes_at(comparisons[0], "fast"), 1e-9, "half way on a logarithmic scale"
    assert_in_delta 1, sweep.overtakes_at(comparisons[1], "fast")
    assert_in_delta 0.5, sweep.point(comparisons[0], "fast", 10)
  end
end
