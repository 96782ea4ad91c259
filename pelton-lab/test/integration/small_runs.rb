# frozen_string_literal: true

require "pelton/lab"
require "pelton/lab/options"
require "pelton/lab/programs"
require "pelton/lab/runner"

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

  private

  # Every contender that can run here has run and answered rightly.
  def run_small(name, *arguments, races: //)
    experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch(name)).first
    experiment.races.keep_if { |race| race.name.match?(races) }
    comparisons = Pelton::Lab::Runner.new(Pelton::Lab::Options.new(["--rounds", "1", *arguments])).run(experiment)
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
