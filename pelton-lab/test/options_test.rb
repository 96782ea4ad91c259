# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/options"

class LabOptionsTest < PeltonTest
  def options(*arguments)
    Pelton::Lab::Options.new(arguments)
  end

  def test_without_any_the_experiments_decide
    assert_empty options.names
    assert_empty options.to_h.except(:names, :seed, :deadline).compact
    assert_equal [nil] * 3, [options.json, options.html, options.check]
    refute_predicate options, :help?
    refute_predicate options, :install_peers?
  end

  def test_names_and_options_in_any_order
    asked = options("--rounds", "3", "memcached", "--pin", "apart", "mine.rb", "--size=50", "--json", "out.json",
      "--no-peers", "--race", "a room")

    assert_equal %w[memcached mine.rb], asked.names
    assert_equal [:apart], asked.pins
    assert_equal 3, asked.rounds
    assert_equal 50, asked.size
    assert_equal false, asked.peers
    assert_equal "out.json", asked.json
    assert_equal "a room", asked.race
  end

  def test_a_seed_that_was_not_given_can_be_given_again
    first = options

    assert_equal first.to_h, options("--seed", first.seed.to_s).to_h
  end

  def test_the_sizes_the_lines_and_the_server
    asked = options("--full", "--latency", "0,0.2,10", "--server", "cache:11211", "--html", "out.html", "--check")

    assert_equal true, asked.full
    assert_equal %w[0 0.2 10], asked.latencies.map(&:to_s)
    assert_equal "cache:11211", asked.server
    assert_equal "out.html", asked.html
    assert_equal true, asked.check
    assert_predicate options("--install-peers"), :install_peers?
  end

  def test_the_command_that_repeats_it
    assert_equal "pelton lab a\\ b.rb --seed 7 --pin same",
      options("a b.rb", "--seed", "7", "--pin", "same", "--check").command
    assert_match(/\Apelton lab memcached --seed \d+\z/, options("memcached").command)
  end

  def test_impossible_values_are_refused
    [%w[--latency x], %w[--latency -1], %w[--pin three], %w[--rounds 0], %w[--size x], %w[--deadline -1],
      %w[--unknown]].each do |arguments|
      assert_raises(Pelton::Lab::UsageError, arguments.join(" ")) { options(*arguments) }
    end
  end

  def test_the_full_sizes_have_a_longer_deadline
    assert_equal 60, options.deadline
    assert_equal 600, options("--full").deadline
    assert_equal 5.0, options("--full", "--deadline", "5").deadline
  end

  def test_help
    assert_predicate options("--help"), :help?
    assert_match(/--rounds N/, options.usage)
  end
end
