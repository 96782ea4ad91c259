# frozen_string_literal: true

require "digest"
require_relative "tests"

module Mutations
  # Tries mutants in a copy: first the tests of the file's name, then those of its room.
  class Trial
    # One for all trials: a room's tests run without a fault once.
    ROOMS = Hash.new { |locks, room| locks[room] = Mutex.new }
    LOCK = Mutex.new

    def initialize(copy, results, tests = Tests.new(copy))
      @copy, @results, @tests = copy, results, tests
    end

    # @return [String] "named" or "room" (whose tests killed it), "survived", "invalid", "same", or "untested" without a
    #   test that passes without the fault
    def outcome(mutant)
      source = mutant.source
      seconds = clean(source)
      tests = source.room_tests.select { |test| seconds.key?(test) }
      named, others = tests.partition { |test| source.named_tests.include?(test) }
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
      tests = source.room_tests
      return {} if tests.empty?
      key = "clean #{Digest::SHA256.hexdigest(tests.sort.join("\0"))[0, 24]}"
      LOCK.synchronize { ROOMS[key] }.synchronize do
        @results[key] ||= begin
          puts "... the tests of #{source.room} without a fault"
          @tests.clean(tests).tap do |seconds|
            (tests - seconds.keys).each { |test| puts "#{test} fails without a fault: it is left out" }
          end
        end
      end
    end
  end
end
