# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/report"

class MutationReportTest < PeltonTest
  Mutant = Struct.new(:room, :to_s) do
    def source = self
  end

  def test_a_row_for_each_room_and_the_survivors
    outcomes = {
      Mutant.new("http", "a") => "named", Mutant.new("http", "b") => "room", Mutant.new("http", "c") => "survived",
      Mutant.new("cable", "d") => "equivalent", Mutant.new("cable", "e") => "named",
      Mutant.new("cable", "f") => "invalid"
    }

    assert_equal <<~TEXT.chomp, Mutations::Report.new(outcomes).to_s
      room   mutants  by name  by room  survived  equivalent  killed
      cable        1        1        0         0           1   100 %
      http         3        1        1         1           0    66 %
      all          4        2        1         1           1    75 %
      survived: c
      75.0 % of 4 mutants killed (not counted: 1 invalid)
    TEXT
  end

  def test_the_share_of_those_that_count
    outcomes = {Mutant.new("a", "b") => "named", Mutant.new("a", "c") => "same", Mutant.new("a", "d") => "untested"}

    assert_equal 1.0, Mutations::Report.new(outcomes).share
    assert_equal 0.5, Mutations::Report.new(outcomes.merge(Mutant.new("a", "e") => "survived")).share
  end
end
