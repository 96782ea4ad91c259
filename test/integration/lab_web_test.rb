# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab"
require "pelton/lab/options"
require "pelton/lab/programs"
require "pelton/lab/runner"

# The experiments with web servers, small: every server that is installed answers rightly, and each target of Pelton's own
# has a figure.
class LabWebTest < PeltonTest
  self.deadline = 240

  def run_small(name, *arguments, races: //)
    %w[ab wrk nginx].each { |program| skip "no #{program}" unless Pelton::Lab::Programs.find(program) }
    experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch(name)).first
    experiment.races.keep_if { |race| race.name.match?(races) }
    options = Pelton::Lab::Options.new(["--rounds", "1", *arguments])
    heats = Pelton::Lab::Runner.new(options).run(experiment)
    results = heats.flat_map(&:results)

    assert_empty heats.filter_map(&:skipped)
    assert_empty results.select { |result| result.status == :refused }.map { |result| "#{result.name}: #{result.reason}" }
    assert_empty results.select { |result| result.status == :skipped && !(result.contender.gem || result.contender.program) }.map(&:reason)
    heats.each do |heat|
      heat.race.targets.map { |target| target.check(heat) }.each { |check| assert check.figure || check.reason.match?(/is not installed/), check.reason }
    end
  end

  def test_hello
    run_small("hello", "--size", "1")
  end

  def test_broker
    run_small("broker", "--size", "20")
  end

  # Three connections, three slow readers of 8 MB, a file of 100 MB thrice.
  def test_connections
    run_small("connections", "--size", "3")
  end

  def test_slow
    run_small("slow", "--size", "2", races: /a thousand/) # the others sleep for minutes, one after the other
  end
end
