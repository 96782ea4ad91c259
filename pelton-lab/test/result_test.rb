# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require_relative "seconds"

class LabResultTest < PeltonTest
  include Seconds

  def setup
    @result = Pelton::Lab::Result.new(Pelton::Lab::Contender.new("one") {}, 10)
  end

  def add(*times)
    times.each { |real| @result.add(took(real)) }
  end

  def test_begins_with_nothing_and_may_run
    assert_predicate @result, :runnable?
    refute_predicate @result, :measured?
    assert_nil @result.median(:real)
  end

  def test_median_and_range_of_its_rounds
    add(3.0, 1.0, 7.0)

    assert_equal 3, @result.rounds
    assert_in_delta 3, @result.median(:real)
    assert_equal [1.0, 7.0], @result.range(:real)
  end

  def test_values_with_their_positions
    add(3.0, 1.0)
    @result.add(took(7.0), 12.5)

    assert_equal [[0, 3.0], [1, 1.0], [12.5, 7.0]], @result.positioned(:real)
    assert_empty @result.positioned(:unknown)
  end

  def test_a_refused_contender_loses_its_measurements_and_does_not_run_again
    add(1.0)
    @result.refuse("wrong")

    assert_equal :refused, @result.status
    assert_equal "wrong", @result.reason
    assert_nil @result.median(:real)
    refute_predicate @result, :runnable?
  end

  def test_a_skipped_contender_does_not_run
    @result.skip("no gem")

    assert_equal :skipped, @result.status
    assert_equal "no gem", @result.reason
    refute_predicate @result, :runnable?
  end
end
