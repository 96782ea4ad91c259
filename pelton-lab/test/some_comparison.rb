# frozen_string_literal: true

require "pelton/lab"
require "pelton/lab/comparison"
require "pelton/lab/measurement"
require "pelton/lab/result"

# A comparison that was run: two contenders of two rounds, one refused. For the tests of the reports. `repeat` has the
# rounds several times.
module SomeComparison
  def self.new(repeat: 1)
    experiment = Pelton::Lab::Experiment.new("sums", "/some/file.rb") do
      race "adding", size: {same: 20_000}, unit: "numbers" do
        baseline("slow", style: "blocking") {}
        contender("fast", style: "direct") {}
        contender("liar") {}
        target 2, "fast / slow", of: "fast", at_most: 0.5, pin: :same
        target 1, "liar / slow", of: "liar", at_most: 0.5
        target 3, "memory", of: "fast", at_most: 5, metric: :rss_mb, unit: "MB", digits: 0
      end
    end
    race = experiment.races.first
    results = race.contenders.map { |contender| Pelton::Lab::Result.new(contender, 20_000) }
    comparison = Pelton::Lab::Comparison.new(experiment, race, :same, size: 20_000, rounds: 2 * repeat, results:)
    comparison.server = "some server 1.0"
    ([6.0, 10.0] * repeat).each { |real| comparison["slow"].add(measurement(real)) }
    ([1.5, 2.5] * repeat).each { |real| comparison["fast"].add(measurement(real)) }
    comparison["liar"].refuse("wrong: it lied")
    comparison
  end

  # The first one, with one more metric, of which "slow" has 7 and "fast" 3.5, a contender left out, and a target
  # without a row.
  def self.beside
    new.tap do |comparison|
      comparison.race.also(:keys, "keys, thousands", digits: 1)
      comparison.race.target(nil, "keys", of: "fast", at_most: 4, metric: :keys, unit: "k")
      {"slow" => 7, "fast" => 3.5}.each do |name, keys|
        comparison[name].measurements.each { |measurement| measurement.records[:keys] = keys }
      end
      comparison.left_out = ["many others"]
    end
  end

  # Comparisons at 0, 1 and 2 ms: "slow" takes 100 us, "fast" 400, 200 and 50, "never" 300.
  def self.sweep
    experiment = Pelton::Lab::Experiment.new("sums", "/some/file.rb") do
      race "sweep", size: 1_000, latency: [0, 1, 2] do
        baseline("slow", style: "blocking") {}
        contender("fast", style: "direct") {}
        contender("never", style: "direct") {}
      end
    end
    {0 => [100, 400, 300], 1 => [100, 200, 300], 2 => [100, 50, 300]}.map do |latency, times|
      comparison(experiment, latency) { |result, index| result.add(microseconds(times[index])) }
    end
  end

  # Comparisons at 0 and 10 ms with points: at 0 ms "fast" takes 2 and 0.5 times as long as "slow" for 1 and 10 at once.
  def self.grid
    experiment = Pelton::Lab::Experiment.new("sums", "/some/file.rb") do
      race "grid", size: 5, unit: "numbers", latency: [0, 10] do
        points "numbers at once", [1, 10]
        past "An article", source: "2012" do
          row "then", style: "blocking", real: 4.0, user: 1.5, system: 0.5
          row "later", real: 8.0
        end
        baseline("slow", style: "blocking") {}
        contender("fast", style: "callback") {}
      end
    end
    {0 => [[10, 10], [20, 5]], 10 => [[1_000, 1_000], [900, 90]]}.map do |latency, times|
      comparison(experiment, latency) do |result, index|
        result.add(microseconds(10, records: {"1": times[index][0], "10": times[index][1]}))
      end
    end
  end

  def self.comparison(experiment, latency)
    race = experiment.races.first
    results = race.contenders.map { |contender| Pelton::Lab::Result.new(contender, race.size(:free)) }
    3.times { results.each_with_index { |result, index| yield result, index } }
    Pelton::Lab::Comparison.new(experiment, race, :free, latency:, size: race.size(:free), rounds: 3, results:)
  end

  def self.microseconds(us, **rest)
    Pelton::Lab::Measurement.new(user: us / 2e6, system: 0, real: us / 1e6, operations: 1, rss_kb: 1024, **rest)
  end

  def self.measurement(real)
    Pelton::Lab::Measurement.new(user: real / 2, system: real / 8, real:, operations: 20_000,
      rss_kb: 10_240, records: {})
  end
end
