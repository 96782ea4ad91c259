# frozen_string_literal: true

require_relative "test_helper"
require "pelton"
require_relative "support/random_program"

# Random programs against the table of fiber states in docs/architecture.md. PELTON_SEED=n runs the one of that seed.
class StateTableTest < PeltonTest
  self.deadline = 120

  PROGRAMS = Integer(ENV["PELTON_PROGRAMS"] || 60)

  def test_random_programs_leave_nothing_behind_and_mix_nothing_up
    seeds = ENV["PELTON_SEED"] ? [Integer(ENV["PELTON_SEED"])] : Array.new(PROGRAMS) { Random.rand(2**32) }
    seeds.each do |seed|
      complaints = RandomProgram.new(seed).run
      assert_empty complaints, "run it again by PELTON_SEED=#{seed}"
    end
  end
end
