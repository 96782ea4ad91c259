# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab"
require "pelton/lab/options"
require "pelton/lab/runner"
require "tempfile"

class LabRunnerTest < PeltonTest
  self.deadline = 60

  FAKES = File.expand_path("fakes.rb", __dir__)

  # Runs one race of the fakes.
  def heats(race, *arguments)
    experiment = Pelton::Lab.load(FAKES).first
    experiment.races.select! { |one| one.name == race }
    Pelton::Lab::Runner.new(Pelton::Lab::Options.new(arguments)).run(experiment)
  end

  def test_only_right_answers_are_measured
    heat = heats("characters", "--rounds", "1").first

    assert_equal ["right", "without Bundler"], heat.results.select(&:measured?).map(&:name)
    assert_equal 1, heat["right"].rounds, "the rehearsal does not count"
    assert_equal ["without a library", "without its gem"], heat.results.select { |result| result.status == :skipped }.map(&:name)
    assert_equal 7, heat.results.count { |result| result.status == :refused }
    assert_match(/\Awrong: key1 should be/, heat["wrong"].reason)
    assert_match(/the rehearsal should be true/, heat["wrong only when timed"].reason)
  end

  def test_sizes
    heat = heats("sizes").first

    assert_equal [10, 5], [heat["all"], heat["small"]].map { |result| result.median(:size) }
  end

  def test_a_size_that_was_asked_for_is_everybodys
    heat = heats("sizes", "--size", "20").first

    assert_equal [20, 20], [heat["all"], heat["small"]].map { |result| result.median(:size) }
  end

  def test_who_takes_part
    names = ->(*arguments) { heats("entrants", *arguments).first.results.map(&:name) }

    assert_equal ["one", "a peer"], names.call
    assert_equal ["one", "a peer", "on request"], names.call("--peers")
    assert_equal %w[one], names.call("--no-peers")
  end

  def test_one_that_hangs_is_refused_once
    heat = heats("deadlines", "--deadline", "0.3").first

    assert_equal [:refused] * 2, heat.results.map(&:status)
    assert_match(/cut/, heat["hanging"].reason)
  end

  def test_rounds_are_interleaved_in_an_order_that_the_seed_decides
    orders = Array.new(2) do
      Tempfile.create("order") do |file|
        ENV["PELTON_LAB_FAKE"] = file.path
        heats("orders", "--seed", "7")
        File.read(file.path).scan(/.../)
      ensure
        ENV.delete("PELTON_LAB_FAKE")
      end
    end

    orders.each do |rehearsal, *rounds|
      assert_equal "abc", rehearsal
      assert_equal 3, rounds.size
      assert_equal ["abc"], rounds.map { |round| round.chars.sort.join }.uniq
    end
    assert_equal orders[0], orders[1]
    assert_operator orders[0].uniq.size, :>, 1
  end

  def test_what_the_server_counted_must_be_right
    assert_equal [:measured, "counting by 5"], heats("counted rightly").first.then { |heat| [heat["port 7"].status, heat.server] }
    assert_equal "wrong: the server counted: hits is 4, should be 5", heats("counted wrongly").first["any"].reason
  end

  def test_a_race_without_its_server_is_skipped
    heat = heats("without its server").first

    assert_equal "the server is not installed", heat.skipped
    assert_equal ["not measured"], heat.checks.map(&:verdict)
  end

  def test_each_heat_is_yielded_when_it_is_over
    experiment = Pelton::Lab.load(FAKES).first
    experiment.races.select! { |race| race.name.start_with?("counted") }
    seen = []
    all = Pelton::Lab::Runner.new(Pelton::Lab::Options.new([])).run(experiment) { |heat| seen << heat }

    assert_equal all, seen
  end

  def test_it_can_be_pinned
    skip "no taskset" if Pelton::Lab::Pinning.unavailable(:same)
    heat = heats("counted rightly", "--pin", "same").first

    assert_equal [:same, 5], [heat.pin, heat.size]
    assert_predicate heat["port 7"], :measured?
  end
end
