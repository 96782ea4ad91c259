# frozen_string_literal: true

require "test_helper"
require_relative "fake_attempt"
require_relative "fake_server"
require "pelton/lab"
require "pelton/lab/comparison"
require "pelton/lab/result"
require "pelton/lab/rounds"

# The rest is in runner_test.rb.
class LabRoundsTest < PeltonTest
  # Runs so many rounds of a race; some contenders take part in the first ones only. @steps are the calls of the trials.
  def rounds(number, rounds_per_process: 1, fewer: {}, &description)
    experiment = Pelton::Lab::Experiment.new("fakes", __FILE__) do
      race("race", size: 4, rounds_per_process:, &description)
    end
    race = experiment.races.first
    attempt = FakeAttempt.new(experiment)
    @comparison = Pelton::Lab::Comparison.new(experiment, race, :free, size: 4, rounds: number,
      results: race.contenders.map { |one| Pelton::Lab::Result.new(one, 4) })
    @progress_calls = []
    rounds = Pelton::Lab::Rounds.new(@comparison, nil, random: Random.new(1)) do |result, size, rehearsal|
      attempt.call(nil, {race: "race", contender: result.name, size:, host: "127.0.0.1", port: 1, rehearsal:}, nil)
    end
    rounds.run(@comparison.results.to_h { |result| [result, fewer.fetch(result.name, number)] }) do |text, share|
      @progress_calls << [text, share]
    end
    @steps = attempt.steps
    @comparison
  end

  def statuses = @comparison.results.to_h { |result| [result.name, [result.status, result.reason, result.rounds]] }

  def test_processes_wait_for_their_rounds_side_by_side
    rounds(3, rounds_per_process: 2) do
      %w[a b].each { |name| contender(name) { |run| run.measure_server(FakeServer.new) { FakeServer::DONE } } }
    end
    steps = @steps.map(&:first).chunk_while { |one, other| one == other }.map { |some| [some.first, some.size] }

    assert_equal [[:prepare, 2], [:measure, 4], [:finish, 2], [:prepare, 2], [:measure, 2], [:finish, 2]], steps
    assert_equal [%w[a b]] * 3, @steps.filter_map { |step, name| name if step == :measure }.each_slice(2).map(&:sort)
    assert_equal({"a" => [:measured, nil, 3], "b" => [:measured, nil, 3]}, statuses)
  end

  def test_a_process_for_each_round
    rounds(2) do
      %w[a b].each { |name| contender(name) { |run| run.measure_server(FakeServer.new) { FakeServer::DONE } } }
    end

    assert_empty @steps, "they run from start to end"
    assert_equal [2, 2], @comparison.results.map(&:rounds)
  end

  def test_only_those_that_take_part_are_started
    rounds(4, rounds_per_process: 2, fewer: {"b" => 1}) do
      %w[a b].each { |name| contender(name) { |run| run.measure_server(FakeServer.new) { FakeServer::DONE } } }
    end

    assert_equal [4, 1], @comparison.results.map(&:rounds)
    assert_equal 1, @steps.count([:prepare, "b"])
  end

  def test_each_round_has_its_own_measurement
    numbers = (1..3).each
    rounds(3, rounds_per_process: 3) do
      contender("a") do |run|
        run.measure_server(FakeServer.new) do
          run.record(:number, numbers.next)
          FakeServer::DONE
        end
      end
    end

    assert_equal [1, 2, 3], @comparison["a"].values(:number)
  end

  # The round before must not be as near.
  def test_measurements_of_a_round_are_neighbours
    rounds(6, rounds_per_process: 3) do
      %w[a b].each { |name| contender(name) { |run| run.measure_server(FakeServer.new) { FakeServer::DONE } } }
    end
    a, b = @comparison.results.map { |result| result.positioned(:real).map(&:first) }

    assert_equal [1, 2, 3, 4, 5, 6], a.map(&:floor)
    assert(a.zip(b).all? { |one, other| b.min_by { |position| (position - one).abs } == other })
  end

  def test_a_last_check_that_fails_discards_all_rounds
    rounds(2, rounds_per_process: 2) do
      contender("wrong at last") do |run|
        run.measure_server(FakeServer.new) { FakeServer::DONE }
        run.expect(1, 2)
      end
    end

    assert_equal({"wrong at last" => [:refused, "wrong: an answer should be 1, is 2", 0]}, statuses)
  end

  def test_one_that_fails_early_does_not_stop_the_others
    rounds(3, rounds_per_process: 3) do
      contender("right") { |run| run.measure_server(FakeServer.new) { FakeServer::DONE } }
      contender("wrong at first") { |run| run.wrong("at first") }
      contender("wrong later") do |run|
        run.measure_server(FakeServer.new) do
          run.wrong("later") if run.measurement
          FakeServer::DONE
        end
      end
    end

    assert_equal({
      "right" => [:measured, nil, 3],
      "wrong at first" => [:refused, "wrong: at first", 0],
      "wrong later" => [:refused, "wrong: later", 0]
    }, statuses)
    assert_includes @steps, [:stop, "wrong later"]
  end

  def test_progress_never_goes_back
    rounds(4, rounds_per_process: 2) do
      %w[a b].each { |name| contender(name) { |run| run.measure_server(FakeServer.new) { FakeServer::DONE } } }
    end

    assert_equal @progress_calls.map(&:last).sort, @progress_calls.map(&:last)
    assert_includes @progress_calls.map(&:first), "fakes: race, not pinned, start: a"
    assert_includes @progress_calls.map(&:first), "fakes: race, not pinned, round 4 of 4: b"
  end
end
