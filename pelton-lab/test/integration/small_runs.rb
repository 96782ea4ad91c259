# frozen_string_literal: true

require "pelton/lab"
require "pelton/lab/options"
require "pelton/lab/programs"
require "pelton/lab/runner"
require "pelton/lab/trial"

# Runs of the experiments that come with the lab, of one round and small.
module SmallRuns
  # Of experiments with web servers: also, each target of Pelton has a value.
  module Web
    include SmallRuns

    # Each contender runs once, not twice: its timed round checks what a rehearsal checks.
    class Attempt
      Rehearsed = Struct.new(:outcome) do
        def run = outcome
      end
      REHEARSED = Rehearsed.new(Pelton::Lab::Trial::Outcome.new(:done))

      def initialize(deadline)
        @deadline = deadline
      end

      def call(processes, job, core)
        return REHEARSED if job[:rehearsal]
        Pelton::Lab::Trial.new(processes, job.merge(rehearsal: true), core:, deadline: @deadline)
      end
    end

    private

    def attempt(options) = Attempt.new(options.deadline)

    def run_small(...)
      %w[ab wrk nginx].each { |program| skip "no #{program}" unless Pelton::Lab::Programs.find(program) }
      super.each do |comparison|
        comparison.race.targets.map { |target| target.check(comparison) }.each do |check|
          assert check.value || check.reason.match?(/is not installed/), check.reason
        end
      end
    end
  end

  private

  def attempt(_) = nil

  # Every contender that can run here has run and answered rightly.
  def run_small(name, *arguments, races: //)
    experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch(name)).first
    experiment.races.keep_if { |race| race.name.match?(races) }
    options = Pelton::Lab::Options.new(["--rounds", "1", *arguments])
    comparisons = Pelton::Lab::Runner.new(options, attempt: attempt(options)).run(experiment)
    results = comparisons.flat_map(&:results)

    assert_empty comparisons.filter_map(&:skipped)
    assert_empty results.select { |result| result.status == :refused }
      .map { |result| "#{result.name}: #{result.reason}" }
    assert_empty results.select { |result|
      result.status == :skipped && !(result.contender.gem || result.contender.program)
    }
      .map(&:reason)
    comparisons
  end
end
