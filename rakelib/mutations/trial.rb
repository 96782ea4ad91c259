# frozen_string_literal: true

require_relative "tests"

module Mutations
  # Tries mutants in a copy: first the tests of the file's name, then those of its room.
  class Trial
    # One for all trials: a room's tests run without a fault once.
    ROOMS = Hash.new { |locks, room| locks[room] = Mutex.new }
    LOCK = Mutex.new
    SLOW = 3 # seconds: longer tests of a room are left out, where there are enough others

    def initialize(copy, results, tests = Tests.new(copy))
      @copy, @results, @tests = copy, results, tests
    end

    # @return [String] "named" or "room" (whose tests killed it), "survived", "invalid", "same", or "untested" without a
    #   test that passes without the fault
    def outcome(mutant)
      source = mutant.source
      seconds = clean(source)
      tests = source.room_tests.select { |test| seconds.key?(test) }
      named, others = tests.sort_by { |test| seconds[test] }.partition { |test| source.named_tests.include?(test) }
      others.reject! { |test| seconds[test] > SLOW } if named.any? || source.room.start_with?("ruby/")
      return "untested" if tests.empty?
      @copy.with(mutant) do
        next "named" if named.any? && killed?(named, seconds)
        next "room" if others.any? && killed?(others, seconds)
        "survived"
      end.to_s
    end

    private

    def killed?(tests, seconds)
      limit = Tests::PATIENCE + Tests::FACTOR * seconds.values_at(*tests).sum
      @tests.run(tests, limit) != :passed
    end

    # The seconds of each test of the room, without a fault.
    def clean(source)
      LOCK.synchronize { ROOMS[source.room] }.synchronize do
        missing = source.room_tests.reject { |test| @results[without_fault(test)] }
        measure(source, missing) if missing.any?
      end
      source.room_tests.to_h { |test| [test, @results[without_fault(test)]] }.reject do |_, seconds|
        seconds == "failed"
      end
    end

    def measure(source, tests)
      puts "... #{tests.size} files of tests of #{source.room} without a fault"
      seconds = @tests.clean(tests)
      tests.each { |test| @results[without_fault(test)] = seconds.fetch(test, "failed") }
      (tests - seconds.keys).each { |test| puts "#{test} fails without a fault: it is left out" }
    end

    def without_fault(test) = "without a fault: #{test}"
  end
end
