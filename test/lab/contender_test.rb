# frozen_string_literal: true

require_relative "../test_helper"
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

  def test_the_baseline_is_no_peer
    refute_predicate contender(gem: "minitest", baseline: true), :peer?
  end

  def test_keeps_its_work
    assert_equal :worked, contender.work.call
  end
end
