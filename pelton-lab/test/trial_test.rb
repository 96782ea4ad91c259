# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/trial"
require "tempfile"
require_relative "with_processes"

class LabTrialTest < PeltonTest
  FAKES = File.expand_path("fakes.rb", __dir__)

  include WithProcesses

  def new_trial(contender, race, deadline: 20)
    job = {path: FAKES, experiment: "fakes", race:, contender:, size: 10, port: nil, rehearsal: false}
    Pelton::Lab::Trial.new(@processes, job, deadline:)
  end

  def trial(contender, race: "characters", **options, &on_start)
    new_trial(contender, race, **options).run(&on_start)
  end

  def test_a_right_one_is_measured
    outcome = trial("right")

    assert_equal :done, outcome.status
    assert_equal 10, outcome.measurement.operations
    assert_equal 10, outcome.measurement[:size]
    assert_equal false, outcome.measurement[:rehearsal]
  end

  def test_it_is_said_once_when_measuring_begins
    begun = 0
    trial("right") { begun += 1 }

    assert_equal 1, begun
  end

  # Matters under `bundle exec`; without, it is so anyway.
  def test_the_gems_of_a_bundle_are_there_but_not_bundler
    before = ENV["RUBYOPT"]
    ENV["RUBYOPT"] = "-rbundler/setup"
    outcome = trial("without Bundler")

    assert_equal :done, outcome.status
    assert_nil outcome.reason
    refute outcome.measurement[:bundled]
  ensure
    ENV["RUBYOPT"] = before
  end

  {"wrong" => [:wrong, /\Akey1 should be "value1", is "value2"\z/],
   "wrong and silent" => [:wrong, /\Aswallowed\z/],
   "raising" => [:error, /ArgumentError: no such thing .*fakes\.rb/],
   "exiting" => [:error, /SystemExit/],
   "measuring nothing" => [:error, /measured nothing/],
   "without a library" => [:unavailable, /pelton_has_no_such_library/],
   "crashing" => [:crashed, /SIGKILL.*last words/]}.each do |contender, (status, reason)|
    define_method("test_the_outcome_of_one_that_is_#{contender.tr(" ", "_")}") do
      outcome = trial(contender)

      assert_equal status, outcome.status
      assert_match reason, outcome.reason
    end
  end

  def test_one_that_hangs_is_cut
    outcome = trial("hanging", race: "deadlines", deadline: 0.3)

    assert_equal :hung, outcome.status
    assert_equal "no end within 0.3 s: cut", outcome.reason
  end

  def test_in_rounds
    begun = 0
    trial = new_trial("in rounds", "servers")

    assert_nil trial.prepare
    outcomes = Array.new(3) { trial.measure { begun += 1 } }

    assert_equal [[:done, 500]] * 3, outcomes.map { |outcome| [outcome.status, outcome.measurement.operations] }
    assert_equal 3, begun
    assert_equal :done, trial.finish.status
    trial.stop
  end

  def test_a_last_check_after_the_rounds
    trial = new_trial("wrong at last", "servers")
    trial.prepare

    assert_equal :done, trial.measure.status
    assert_equal :wrong, trial.finish.status
  end

  def test_one_that_cannot_be_measured_in_rounds
    assert_match(/must use run\.measure_server/, new_trial("no server", "servers").prepare.reason)
    assert_match(/ArgumentError: no such thing/, new_trial("raising", "servers").prepare.reason)
  end

  def test_one_that_ends_or_hangs_in_its_round
    ending, hanging, killed = ["ending", "hanging", "in rounds"].map do |name|
      new_trial(name, "servers").tap(&:prepare)
    end
    hanging.instance_variable_set(:@deadline, 0.3)
    Process.kill(:KILL, pid = killed.instance_variable_get(:@pid))
    eventually("its end") { ended?(pid) }

    assert_equal %i[crashed hung crashed], [ending, hanging, killed].map { |trial| trial.measure.status }
    [ending, hanging, killed].each(&:stop)
  end
end
