# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_test.rb.
class LabCrossoverExperimentTest < PeltonTest
  def setup
    @race = Pelton::Lab.load(Pelton::Lab.shipped.fetch("crossover")).first.find("get")
  end

  def test_from_no_latency_to_much_and_from_one_operation_to_a_thousand
    assert_equal [0, 50], @race.latencies.minmax
    assert_equal [1, 1000], @race.points.numbers.minmax
  end

  def test_the_baseline_blocks_with_libmemcached_and_without
    baselines = @race.contenders.select(&:baseline)

    assert_equal %w[blocking], baselines.map(&:style).uniq
    assert_equal [nil], baselines.last(1).map(&:gem)
    assert_equal "libmemcached", baselines.last.instead_of
  end

  def test_a_long_line_bounds_everybody
    assert(@race.contenders.all? { |contender| contender.size(@race.size(:same), latency: 50) < 10 })
  end
end
