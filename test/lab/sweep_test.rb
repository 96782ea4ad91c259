# frozen_string_literal: true

require_relative "../test_helper"
require_relative "some_heat"
require "pelton/lab/sweep"

class LabSweepTest < PeltonTest
  Sweep = Pelton::Lab::Sweep

  def test_heats_of_one_race_and_pinning_belong_together
    sweeps = Sweep.of([SomeHeat.new, *SomeHeat.sweep, SomeHeat.new])

    assert_equal [1, 3, 1], sweeps.map { |sweep| sweep.heats.size }
    assert_equal [false, true, false], sweeps.map(&:several?)
    assert_equal ["sweep", :free], [sweeps[1].race.name, sweeps[1].pin]
  end

  def test_rivals_are_all_but_the_baseline_that_were_measured
    assert_equal %w[fast never], Sweep.new(SomeHeat.sweep).rivals
    assert_equal %w[fast], Sweep.new([SomeHeat.new]).rivals
  end

  def test_one_overtakes_where_the_ratio_falls_below_one
    sweep = Sweep.new(SomeHeat.sweep)

    assert_in_delta 1.5, sweep.overtakes("fast"), 1e-9, "half way between twice and half the time"
    assert_nil sweep.overtakes("never")
    assert_nil sweep.overtakes("nobody")
  end

  def test_who_is_ahead_everywhere_is_so_from_the_first_latency
    assert_in_delta 2.0, Sweep.new(SomeHeat.sweep.last(1)).overtakes("fast")
  end

  def test_who_falls_behind_again_has_not_overtaken
    heats = SomeHeat.sweep
    heats[2]["fast"].add(SomeHeat.microseconds(1000)) until heats[2]["fast"].median(:us_per_operation) > 100

    assert_nil Sweep.new(heats).overtakes("fast")
  end

  def test_a_heat_that_was_skipped_is_no_part_of_the_curve
    heats = SomeHeat.sweep
    heats[1].skipped = "the server left"

    assert_equal [0, 2], Sweep.new(heats).measured.map(&:latency)
  end

  def test_at_which_number_at_once_one_overtakes
    sweep = Sweep.new(heats = SomeHeat.grid)

    assert_in_delta Math.sqrt(10), sweep.overtakes_at(heats[0], "fast"), 1e-9, "half way on a logarithmic scale"
    assert_in_delta 1, sweep.overtakes_at(heats[1], "fast")
    assert_in_delta 0.5, sweep.point(heats[0], "fast", 10)
  end
end
