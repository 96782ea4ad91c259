# frozen_string_literal: true

require "pelton/lab/measurement"
require "pelton/lab/result"

# Measurements of one operation each that took so many seconds.
module Seconds
  private

  def took(real) = Pelton::Lab::Measurement.new(user: 0, system: 0, real:, operations: 1)

  # @return [Array<Pelton::Lab::Result>] those of the race's contenders, without measurements
  def results_of(race) = race.contenders.map { |contender| Pelton::Lab::Result.new(contender, 1) }
end
