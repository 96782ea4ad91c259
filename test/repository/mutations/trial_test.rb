# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/trial"

class MutationTrialTest < PeltonTest
  Source = Struct.new(:room, :named_tests, :room_tests)
  Mutant = Struct.new(:source)
  ROOM = Source.new("room", ["a_test.rb"], %w[a_test.rb b_test.rb c_test.rb])
  Copy = Struct.new(:becomes) do
    def with(_mutant) = becomes || yield
  end

  # Fails for these files.
  class Tests
    attr_reader :runs

    def initialize(failing, broken: [])
      @failing, @broken, @runs = failing, broken, []
    end

    def clean(files) = (files - @broken).to_h { |file| [file, 2.0] }

    def run(files, limit)
      @runs << [files, limit]
      (files & @failing).any? ? :failed : :passed
    end
  end

  def test_the_tests_of_its_name_come_first
    assert_equal "named", outcome(["a_test.rb"])
    assert_equal [[["a_test.rb"], 22.0]], @tests.runs
  end

  def test_then_those_of_its_room
    assert_equal "room", outcome(["c_test.rb"])
    assert_equal [[["a_test.rb"], 22.0], [%w[b_test.rb c_test.rb], 34.0]], @tests.runs
  end

  def test_short_tests_come_first
    tests = Tests.new([])
    tests.define_singleton_method(:clean) { |_files| {"a_test.rb" => 1, "b_test.rb" => 2, "c_test.rb" => 1} }
    outcome(tests: tests)

    assert_equal [["a_test.rb"], %w[c_test.rb b_test.rb]], tests.runs.map(&:first)
  end

  def test_slow_tests_of_the_room_are_left_out
    tests = Tests.new([])
    tests.define_singleton_method(:clean) { |_files| {"a_test.rb" => 9, "b_test.rb" => 4, "c_test.rb" => 2} }
    outcome(tests: tests)

    assert_equal [["a_test.rb"], ["c_test.rb"]], tests.runs.map(&:first)
  end

  def test_none_fails
    assert_equal "survived", outcome([])
  end

  def test_a_hang_is_a_failure
    tests = Tests.new([])
    tests.define_singleton_method(:run) { |*| :timeout }

    assert_equal "named", outcome(tests: tests)
  end

  def test_what_does_not_compile
    assert_equal "invalid", outcome(["a_test.rb"], copy: Copy.new(:invalid))
    assert_empty @tests.runs
  end

  def test_a_test_that_fails_without_the_fault_tells_nothing
    said, = capture_io { assert_equal "survived", outcome(tests: Tests.new(["a_test.rb"], broken: ["a_test.rb"])) }

    assert_match(/a_test.rb fails without a fault/, said)
  end

  def test_no_tests
    assert_equal "untested", outcome([], source: Source.new("room", [], []))
  end

  private

  def outcome(failing = [], copy: Copy.new, tests: Tests.new(failing), source: ROOM)
    @tests = tests
    result = nil
    said, = capture_io { result = Mutations::Trial.new(copy, {}, tests).outcome(Mutant.new(source)) }
    print said.lines.grep(/fails/).join
    result
  end
end
