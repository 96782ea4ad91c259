# frozen_string_literal: true

require "pelton/lab/run"
require "pelton/lab/trial"

# Runs contenders in the test's own process, for the tests of the runner. It keeps their jobs, and the calls of each
# trial.
class FakeAttempt
  attr_reader :jobs, :steps

  def initialize(experiment)
    @experiment = experiment
    @jobs = []
    @steps = []
  end

  def call(_processes, job, core)
    @jobs << job.merge(core:)
    Fake.new(job, @experiment.find(job[:race]).find(job[:contender]).work, @steps)
  end

  # Stands for a {Pelton::Lab::Trial}. The contender's block is on a fiber, where it waits for its rounds.
  class Fake
    def initialize(job, work, steps)
      @job = job
      @work = work
      @steps = steps
    end

    def run(&on_start)
      attempt(on_start || -> {}) { |run| @work.call(run) }
    end

    def prepare
      note(:prepare)
      @fiber = Fiber.new do
        attempt(-> {}, next_round: -> { Fiber.yield(:ready) },
          on_round: ->(measurement) { Fiber.yield(done(measurement)) }) { |run| @work.call(run) }
      end
      @fiber.resume.then { |event| event unless event == :ready }
    end

    def measure
      note(:measure)
      @fiber.resume(true).tap { |outcome| @fiber.resume if outcome.status == :done }
    end

    def finish
      note(:finish)
      @fiber.resume(false)
    end

    def stop = note(:stop)

    private

    def note(step) = @steps << [step, @job[:contender]]

    def attempt(on_start, **options)
      run = Pelton::Lab::Run.new(**@job.slice(:size, :host, :port, :rehearsal), on_start:, **options)
      run.define_singleton_method(:settle) {} # it takes long in a process with all the tests
      status = yield run
      status.is_a?(Array) ? Pelton::Lab::Trial::Outcome.new(*status) : done(run.measurement)
    rescue Pelton::Lab::Run::WrongAnswer => error
      Pelton::Lab::Trial::Outcome.new(:wrong, nil, error.message)
    end

    # A copy, as of a measurement that comes from another process.
    def done(measurement)
      Pelton::Lab::Trial::Outcome.new(:done, measurement &&
        Pelton::Lab::Measurement.new(**measurement.parts, records: measurement.records.dup))
    end
  end
end
