# frozen_string_literal: true

require "pelton/lab"
require "pelton/lab/heat"
require "pelton/lab/measurement"
require "pelton/lab/result"

# A heat that was run: two contenders of two rounds, one refused. For the tests of the reports.
module SomeHeat
  def self.new
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
    heat = Pelton::Lab::Heat.new(experiment, race, :same, size: 20_000, rounds: 2, results:)
    heat.server = "some server 1.0"
    [6.0, 10.0].each { |real| heat["slow"].add(measurement(real)) }
    [1.0, 3.0].each { |real| heat["fast"].add(measurement(real)) }
    heat["liar"].refuse("wrong: it lied")
    heat
  end

  def self.measurement(real)
    Pelton::Lab::Measurement.new(user: real / 2, system: real / 8, real:, operations: 20_000, rss_kb: 10_240)
  end
end
