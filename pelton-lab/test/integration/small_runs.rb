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

    private

    def run_small(...)
      %w[ab wrk nginx].each { |program| skip "no #{program}" unless Pelton::Lab::Programs.find(program) }
      super.each do |comparison|
        comparison.race.targets.map { |target| target.check(comparison) }.each do |check|
          assert check.value || check.reason.match?(/is not installed/), check.reason
        end
      end
    end
  end

  # Each contender runs once, not twice: its timed round checks what a rehearsal checks. Only a rehearsal that a server
  # counts runs as well.
  class Attempt
    Rehearsed = Struct.new(:outcome) do
      def run = outcome
    end
    REHEARSED = Rehearsed.new(Pelton::Lab::Trial::Outcome.new(:done))

    def initialize(experiment, deadline)
      @experiment = experiment
      @deadline = deadline
    end

    def call(processes, job, core)
      return REHEARSED if job[:rehearsal] && !@experiment.find(job[:race]).expected_counts
      Pelton::Lab::Trial.new(processes, job.merge(rehearsal: true), core:, deadline: @deadline)
    end
  end

  private

  # Every contender that can run here has run and answered rightly.
  def run_small(name, *arguments, races: //)
    experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch(name)).first
    experiment.races.keep_if { |race| race.name.match?(races) }
    options = Pelton::Lab::Options.new(["--rounds", "1", *arguments])
    comparisons = Pelton::Lab::Runner.new(options, attempt: Attempt.new(experiment, options.deadline)).run(experiment)
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
