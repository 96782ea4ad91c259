# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab"
require "pelton/lab/options"
require "pelton/lab/runner"

# The experiments that come with Pelton, on real servers and small: every contender that can run here answers rightly.
class LabIntegrationTest < PeltonTest
  self.deadline = 120

  def run_small(name, size)
    experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch(name)).first
    options = Pelton::Lab::Options.new(["--rounds", "1", "--size", size.to_s, "--peers", "--deadline", "30"])
    heats = Pelton::Lab::Runner.new(options).run(experiment)
    results = heats.flat_map(&:results)

    assert_empty heats.filter_map(&:skipped)
    assert_empty results.select { |result| result.status == :refused }.map { |result| "#{result.name}: #{result.reason}" }
    assert_empty results.select { |result| result.status == :skipped && !result.contender.gem }.map(&:reason)
  end

  def test_memcached
    run_small("memcached", 50)
  end

  def test_transfer
    run_small("transfer", 1)
  end

  def test_waiting
    run_small("waiting", 100)
  end
end
