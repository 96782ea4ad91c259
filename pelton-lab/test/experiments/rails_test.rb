# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabRailsExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("rails")).first
  end

  def test_the_pages_of_the_chat_on_a_file_and_on_a_server
    names = @experiment.races.map(&:name)

    ["a room", "messages", "the sidebar", "a search", "a message"].each { |page| assert_empty ["#{page}, SQLite", "#{page}, PostgreSQL"] - names }
  end

  def test_puma_with_five_threads_is_the_baseline_everywhere
    assert_equal ["Puma, 5 threads"], @experiment.races.map { |race| race.reference.name }.uniq
    assert_empty(@experiment.races.reject { |race| race.find("Pelton") })
  end

  def test_what_waits_is_measured_beside_puma_with_threads_for_it
    waiting = @experiment.races.select { |race| race.contenders.any? { |one| one.name == "Puma, io-bound" } }

    assert_equal ["20 ms of waiting", "a query of 20 ms, PostgreSQL", "a query of 20 ms, MariaDB", "50 ms of another service"], waiting.map(&:name)
  end

  def test_pelton_takes_part_in_every_round
    assert_empty(@experiment.races.reject { |race| race.find("Pelton").rounds(race.rounds) == race.rounds })
    refute_predicate @experiment.races.first.find("Pelton"), :peer?
  end

  # In the targets' texts.
  def test_so_many_times_the_requests_is_the_inverse_of_the_time
    targets = @experiment.races.flat_map(&:targets).select { |target| target.what.match?(/times its requests/) }

    assert_operator targets.size, :>, 20
    targets.each { |target| assert_in_delta 1, target.limit * target.what[/\(([\d.]+) times/, 1].to_f, 1e-9, target.what }
  end

  # It hands no socket over to the application.
  def test_falcon_takes_part_but_in_action_cable
    assert_equal ["Action Cable"], @experiment.races.reject { |race| race.contenders.any? { |one| one.name == "Falcon" } }.map(&:name)
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
