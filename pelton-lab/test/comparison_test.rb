# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/comparison"
require_relative "seconds"

class LabComparisonTest < PeltonTest
  include Seconds

  def setup
    @race = Pelton::Lab::Race.new("race", size: 1) do
      metric :real
      baseline("slow") {}
      contender("fast") {}
      target 2, "anywhere", of: "fast", at_most: 0.5
      target 1, "on one core", of: "fast", at_most: 0.5, pin: :same
    end
  end

  def comparison(pin, **times)
    Pelton::Lab::Comparison.new(nil, @race, pin, size: 1, rounds: 1, results: results_of(@race)).tap do |comparison|
      times.each { |name, real| comparison[name.to_s].add(took(real)) }
    end
  end

  # Both get slower alike.
  def test_the_ratio_is_that_of_neighbouring_rounds
    ran = comparison(:same)
    [1.0, 2.0, 3.0, 9.0].each do |slow|
      {"slow" => slow, "fast" => slow / 4}.each { |name, real| ran[name].add(took(real)) }
    end

    assert_in_delta 0.25, ran.ratio(ran["fast"])
    assert ran.trusted?(ran["fast"])
  end

  def test_ratio_to_the_baseline
    ran = comparison(:same, slow: 4.0, fast: 1.0)

    assert_in_delta 0.25, ran.ratio(ran["fast"])
    assert_in_delta 1, ran.ratio(ran["slow"])
  end

  def test_contenders_that_did_not_run_or_not_in_all_rounds
    ran = Pelton::Lab::Comparison.new(nil, @race, :same, size: 1, rounds: 3, results: results_of(@race))
    ran["slow"].add(took(1))
    ran["fast"].refuse("it lied")
    ran.left_out = %w[a b]

    assert_equal ["1 round only (--full: all): slow", "left out (--peers: they run, too): a; b",
      "refused: fast: it lied"], ran.absences
  end

  def test_no_ratio_without_both
    ran = comparison(:same, fast: 1.0)

    assert_nil ran.ratio(ran["fast"])
    assert_nil ran.ratio(ran["slow"])
  end

  def test_of_several_baselines_the_first_that_was_measured
    race = Pelton::Lab::Race.new("race", size: 1) do
      baseline("absent") {}
      baseline("present") {}
      target 1, "present / absent", of: "present", at_most: 2
    end
    comparison = Pelton::Lab::Comparison.new(nil, race, :free, size: 1, rounds: 1, results: results_of(race))

    assert_equal "absent", comparison.reference.name
    comparison["absent"].skip("not here")
    comparison["present"].add(took(1))

    assert_equal "present", comparison.reference.name
    assert_equal ["absent: not here"], comparison.checks.map(&:reason), "a target is of the first"
  end

  def test_a_ratio_with_a_wide_interval_is_not_trusted
    ran = comparison(:same)
    7.times { |n| {"slow" => 4.0, "fast" => 1.0 + n / 10.0}.each { |name, real| ran[name].add(took(real)) } }

    refute ran.trusted?(ran["fast"])
    assert ran.trusted?(ran["slow"]), "by itself"
    refute comparison(:same, slow: 4.0, fast: 1.0).then { |once| once.trusted?(once["fast"]) }, "from one round"
  end

  def test_its_name
    experiment = Pelton::Lab::Experiment.new("sums", "/some/file.rb") {}

    assert_equal "sums: race, one core",
      Pelton::Lab::Comparison.new(experiment, @race, :same, size: 1, rounds: 1, results: []).name
    assert_equal "sums: race, one core, 0.2 ms",
      Pelton::Lab::Comparison.new(experiment, @race, :same, latency: 0.2, size: 1, rounds: 1, results: []).name
  end

  def test_the_line_before_the_server_in_words
    line = lambda do |**link|
      race = Pelton::Lab::Race.new("race", size: 1, link:) {}
      Pelton::Lab::Comparison.new(nil, race, :free, size: 1, rounds: 1, results: []).line
    end

    assert_equal "10.0 ms for each 64 KB", line.call(chunk: 0.01)
    assert_equal "2.00 ms of round trip, cut after 100 bytes", line.call(delay: 0.001, cut_after: 100)
    assert_nil comparison(:same).line
  end

  def test_checks_the_targets_of_its_pinning
    assert_equal [2, 1], comparison(:same, slow: 4.0, fast: 1.0).checks.map { |check| check.target.row }
    assert_equal [2], comparison(:apart, slow: 4.0, fast: 1.0).checks.map { |check| check.target.row }
  end

  # The result for ten says nothing of a thousand.
  def test_a_target_is_not_checked_at_another_size
    race = Pelton::Lab::Race.new("race", size: {same: 1_000}, full: 5_000) do
      contender("fast") {}
      target 1, "memory", of: "fast", at_most: 1, metric: :rss_mb, unit: "MB"
    end
    reasons = [10, 1_000, 5_000].map do |size|
      results = [Pelton::Lab::Result.new(race.contenders.first, size)]
      Pelton::Lab::Comparison.new(nil, race, :same, size:, rounds: 1, results:).checks.first.reason
    end

    assert_equal ["its size is 1,000 or 5,000 operations, not 10", "fast: ", "fast: "], reasons
  end

  def test_a_check_says_how_far_away_it_was
    far = Pelton::Lab::Comparison.new(nil, @race, :free, latency: 5, size: 1, rounds: 1, results: results_of(@race))

    assert_equal ["anywhere, 5 ms"], far.checks.map(&:what)
    assert_equal ["anywhere", "on one core"], comparison(:same).checks.map(&:what)
  end

  def test_one_that_was_skipped_says_why_at_each_target
    skipped = comparison(:same).tap { |comparison| comparison.skipped = "one core only" }

    assert_equal ["one core only"] * 2, skipped.checks.map(&:reason)
  end
end
