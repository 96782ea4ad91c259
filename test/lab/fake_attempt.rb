# frozen_string_literal: true

require "pelton/lab/run"
require "pelton/lab/trial"

# Runs contenders in the test's own process: at once, for the tests of what the runner makes of them. It keeps their jobs.
class FakeAttempt
  attr_reader :jobs

  def initialize(experiment)
    @experiment = experiment
    @jobs = []
  end

  def call(_processes, job, core)
    @jobs << job.merge(core:)
    work = @experiment.find(job[:race]).find(job[:contender]).work
    Object.new.tap { |trial| trial.define_singleton_method(:run) { |&on_start| FakeAttempt.outcome(job, work, on_start) } }
  end

  def self.outcome(job, work, on_start)
    run = Pelton::Lab::Run.new(**job.slice(:size, :host, :port, :rehearsal), on_start: on_start || -> {})
    run.define_singleton_method(:settle) {} # it takes long in a process with all the tests
    status = work.call(run)
    return Pelton::Lab::Trial::Outcome.new(*status) if status.is_a?(Array)
    Pelton::Lab::Trial::Outcome.new(:done, run.measurement)
  rescue Pelton::Lab::Run::WrongAnswer => error
    Pelton::Lab::Trial::Outcome.new(:wrong, nil, error.message)
  end
end
