# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab"
require "pelton/lab/heat"
require "pelton/lab/measurement"
require "pelton/lab/result"

class LabHeatTest < PeltonTest
  def setup
    @race = Pelton::Lab::Race.new("race", size: 1) do
      metric :real
      baseline("slow") {}
      contender("fast") {}
      target 2, "anywhere", of: "fast", at_most: 0.5
      target 1, "on one core", of: "fast", at_most: 0.5, pin: :same
    end
  end

  def heat(pin, **times)
    results = @race.contenders.map { |contender| Pelton::Lab::Result.new(contender, 1) }
    Pelton::Lab::Heat.new(nil, @race, pin, size: 1, rounds: 1, results:).tap do |heat|
      times.each { |name, real| heat[name.to_s].add(Pelton::Lab::Measurement.new(user: 0, system: 0, real:, operations: 1)) }
    end
  end

  def test_ratio_to_the_baseline
    ran = heat(:same, slow: 4.0, fast: 1.0)

    assert_in_delta 0.25, ran.ratio(ran["fast"])
    assert_in_delta 1, ran.ratio(ran["slow"])
  end

  def test_no_ratio_without_both
    ran = heat(:same, fast: 1.0)

    assert_nil ran.ratio(ran["fast"])
    assert_nil ran.ratio(ran["slow"])
  end

  def test_checks_the_targets_of_its_pinning
    assert_equal [2, 1], heat(:same, slow: 4.0, fast: 1.0).checks.map { |check| check.target.row }
    assert_equal [2], heat(:apart, slow: 4.0, fast: 1.0).checks.map { |check| check.target.row }
  end

  def test_one_that_was_skipped_says_why_at_each_target
    skipped = heat(:same).tap { |heat| heat.skipped = "one core only" }

    assert_equal ["one core only"] * 2, skipped.checks.map(&:reason)
  end
end
