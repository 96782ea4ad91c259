# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/comparison"
require_relative "seconds"

class LabTargetTest < PeltonTest
  include Seconds

  # The check of a target "fast" in a comparison where the contenders took these seconds.
  def check(limit, fast: [], slow: [], **options)
    race = Pelton::Lab::Race.new("race", size: 1) do
      metric :real
      baseline("slow") {}
      contender("fast") {}
      target 1, "fast", of: "fast", at_most: limit, **options
    end
    results = race.contenders.zip([slow, fast]).map do |contender, times|
      Pelton::Lab::Result.new(contender, 1).tap do |result|
        times.each { |real| result.add(Pelton::Lab::Measurement.new(user: real, system: 0, real:, operations: 1)) }
        result.refuse("wrong") if times.empty?
      end
    end
    Pelton::Lab::Comparison.new(nil, race, :same, size: 1, rounds: 7, results:).checks.first
  end

  def test_the_median_of_the_ratios_is_compared
    met = check(0.5, fast: [1.0, 2.0, 4.0, 1.0], slow: [2.0, 4.0, 8.0, 2.0])

    assert_in_delta 0.5, met.value
    assert_equal "met", met.verdict
  end

  def test_one_without_a_row_stands_below
    rows = [nil, 3, 1].map { |row| Pelton::Lab::Target.new(row, "x", of: "fast", at_most: 1, default_metric: :real) }

    assert_equal [1, 3, nil], rows.sort_by(&:order).map(&:row)
  end

  def test_within_five_percent_is_met_beyond_is_missed
    assert_equal "met", check(1.0, fast: [1.04] * 3, slow: [1.0] * 3).verdict
    assert_equal "missed", check(1.0, fast: [1.06] * 3, slow: [1.0] * 3).verdict
  end

  def test_not_certain_where_the_interval_includes_the_limit
    wide = [0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4]

    done = check(1.0, fast: wide, slow: [1.0] * 7)
    assert_equal "not certain", done.verdict
    assert_equal false, done.met?
    assert_equal false, done.missed?
    assert_equal "missed", check(0.5, fast: wide, slow: [1.0] * 7).verdict, "however wide, it is beyond the limit"
    assert_equal "met", check(2.0, fast: wide, slow: [1.0] * 7).verdict
  end

  def test_not_certain_with_too_few_rounds_for_an_interval
    assert_equal "not certain", check(1.0, fast: [0.1, 0.1], slow: [1.0, 1.0]).verdict
  end

  def test_with_a_unit_the_value_itself_is_compared
    alone = check(3, fast: [2.0] * 3, unit: "s")

    assert_in_delta 2, alone.value
    assert_equal "met", alone.verdict
  end

  def test_with_others_than_the_baseline_the_best_of_them_counts
    race = Pelton::Lab::Race.new("race", size: 1) do
      metric :real
      %w[base good best none].each { |name| contender(name, baseline: name == "base") {} }
      target 1, "base", of: "base", to: %w[good best none], at_most: 1
    end
    results = race.contenders.zip([6.0, 4.0, 3.0]).map do |contender, real|
      Pelton::Lab::Result.new(contender, 1).tap { |result| result.add(took(real)) if real }
    end
    check = Pelton::Lab::Comparison.new(nil, race, :same, size: 1, rounds: 7, results:).checks.first

    assert_in_delta 2, check.value
  end

  def test_another_metric_than_the_races
    assert_equal :cpu, check(1, fast: [2.0], slow: [1.0], metric: :cpu).target.metric
  end

  def test_not_measured_without_the_contender_or_the_baseline
    assert_equal ["not measured", "fast: wrong"], check(1, slow: [1.0]).then { |done| [done.verdict, done.reason] }
    assert_equal ["not measured", "slow: wrong"], check(1, fast: [1.0]).then { |done| [done.verdict, done.reason] }
  end

  def test_a_verdict_should_have_seven_rounds_of_both
    assert_predicate check(1, fast: [1.0] * 7, slow: [1.0] * 7), :enough_rounds?
    refute_predicate check(1, fast: [1.0] * 7, slow: [1.0] * 6), :enough_rounds?
  end
end
