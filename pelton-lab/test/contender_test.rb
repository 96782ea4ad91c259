# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

class LabContenderTest < PeltonTest
  def contender(**options)
    Pelton::Lab::Contender.new("one", **options) { :worked }
  end

  def test_without_a_gem_it_is_there
    assert_nil contender.unavailable
    assert_nil contender.version
    refute_predicate contender, :peer?
  end

  def test_with_an_installed_gem_it_is_there_and_has_a_version
    assert_nil contender(gem: "minitest").unavailable
    assert_equal Gem.loaded_specs["minitest"].version.to_s, contender(gem: "minitest").version
    assert_predicate contender(gem: "minitest"), :peer?
  end

  def test_without_its_gem_it_says_so
    assert_match(/pelton-has-no-such-gem is not installed/, contender(gem: "pelton-has-no-such-gem").unavailable)
  end

  def test_it_may_need_more_gems_than_its_own
    assert_nil contender(gem: "minitest", with: %w[rake]).unavailable
    assert_match(/pelton-has-no-such-gem is not installed/,
      contender(gem: "minitest", with: %w[rake pelton-has-no-such-gem]).unavailable)
    assert_equal Gem.loaded_specs["minitest"].version.to_s,
      contender(gem: "minitest", with: %w[pelton-has-no-such-gem]).version
  end

  def test_neither_the_baseline_nor_a_gem_of_peltons_is_a_peer
    refute_predicate contender(gem: "minitest", baseline: true), :peer?
    refute_predicate contender(gem: "pelton-sequel"), :peer?
  end

  def test_a_program_is_as_good_as_a_gem
    assert_nil contender(program: "ruby").unavailable
    assert_match(/\d/, contender(program: "ruby").version)
    assert_equal "pelton-has-no-such-program is not installed",
      contender(program: "pelton-has-no-such-program").unavailable
    assert_predicate contender(program: "ruby"), :peer?
  end

  def test_its_size_is_bounded_unless_all_is_asked_for
    assert_equal 5, contender(at_most: 5).size(10)
    assert_equal 10, contender(at_most: 5).size(10, full: true)
    assert_equal 3, contender(at_most: 5).size(3)
  end

  def test_its_rounds_are_bounded_unless_all_are_asked_for
    assert_equal 3, contender(rounds: 3).rounds(7)
    assert_equal 2, contender(rounds: 3).rounds(2)
    assert_equal 7, contender(rounds: 3).rounds(7, all: true)
    assert_equal 7, contender.rounds(7)
  end

  def test_on_a_long_line_its_round_trips_bound_it
    waiting = contender(round_trips: 2)

    assert_equal [1000, 10, 1], [0, 10, 5000].map { |latency| waiting.size(1000, latency:) }
    assert_equal 1000, contender.size(1000, latency: 5000)
    assert_equal 1000, waiting.size(1000), "no line"
  end

  def test_keeps_its_work
    assert_equal :worked, contender.work.call
  end
end
