# frozen_string_literal: true

require_relative "../test_helper"

# The random programs of state_table_test.rb with a collection at every allocation: small ones, in a process of their
# own, where a collection has fewer objects to visit.
class StateTableStressTest < PeltonTest
  self.deadline = 120

  def test_small_random_programs_with_a_collection_at_every_allocation
    output = ruby_output(<<~RUBY, ENV["PELTON_SEED"] || Random.new_seed % 1_000_000_000, deadline: 100)
      require "#{ROOT}/test/support/fiber_program"
      seed = Integer(ARGV[0])
      4.times do |i|
        program = FiberProgram.new(seed + i, size: 1 + (seed + i) % 2, at_most: 5, stress: true)
        problems = program.call
        puts program, problems if problems.any?
      end
    RUBY

    assert_empty output
  end
end
