# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"
require_relative "../support/random_program"

class StateTableStressTest < PeltonTest
  self.deadline = 240

  def test_a_small_random_program_under_a_collection_at_every_allocation
    seed = Integer(ENV["PELTON_SEED"] || Random.rand(2**32))
    logger, Pelton.logger = Pelton.logger, nil # the watchdog would have much to say
    program = RandomProgram.new(seed, tasks: 2, steps: 2)
    GC.stress = true
    complaints = program.run
    GC.stress = false
    assert_empty complaints, "run it again by PELTON_SEED=#{seed}"
  ensure
    GC.stress = false
    Pelton.logger = logger
  end
end
