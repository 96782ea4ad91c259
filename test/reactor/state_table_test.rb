# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/fiber_program"

# Random programs test the state table of fibers (docs/internals/architecture.md). A seed determines each program, and
# is printed when it begins, so that a crash shows it, too; PELTON_SEED=... runs that program again and again.
# `rake fuzz:fibers SECONDS=600` runs random programs for longer.
class StateTableTest < PeltonTest
  SECONDS = Float(ENV.fetch("PELTON_FUZZ_SECONDS", "2"))
  HANGS = 20 # seconds; a program takes milliseconds

  # Methods in which no trap handler waits here. A fiber that is given up in a handler, at the beginning of an `ensure`
  # block, does not run the block's rest, which unlocks a Mutex. What is raised in a handler that strikes in IO.pipe
  # makes Ruby 3.1 close descriptors twice.
  UNSAFE = ["take_wait_for_condition", *(%w[pipe] if Gem::Version.new(RUBY_VERSION) < Gem::Version.new("3.3"))].freeze

  # Methods in which no trap handler waits that strikes behind the scheduler's hook, not inside it: there Ruby frees the
  # Mutex once more while the handler runs, and wakes nobody, so what is raised in the handler leaves the Mutex free
  # with others waiting.
  LOCKS = %w[lock synchronize].freeze
  self.deadline = 60 + 2 * SECONDS

  def test_random_programs
    programs(SECONDS) { |seed| FiberProgram.new(seed, size: 1 + seed % 24, signals: true) }
  end

  def test_random_programs_while_objects_move
    skip "this Ruby does not compact" unless GC.respond_to?(:auto_compact=)
    auto_compact(true)
    programs(SECONDS / 4) { |seed| FiberProgram.new(seed, size: 1 + seed % 8) }
  ensure
    auto_compact(false)
  end

  # So that a crash shows which program it was.
  def test_a_program_is_named_before_it_begins
    named = nil
    program = Struct.new(:seed) { define_method(:call) { [].tap { named = $stderr.string } } }.new(7)
    capture_io { programs(0.001) { program } }

    assert_includes named, program.to_s
  end

  # What a seed has found it finds again.
  def test_the_moments_of_signals_are_in_the_seed
    first, again, other = [7, 7, 8].map { |seed| FiberProgram.new(seed, signals: true).moments }

    assert_equal first, again
    refute_equal first, other
    assert_equal 20, first[:pauses].size
    assert_operator first[:steps].size, :>, 5
  end

  private

  def programs(seconds)
    count = 0
    program = nil
    handler = trap(:USR1) do
      places = caller_locations(1, 4).map(&:base_label)
      next if places.intersect?(UNSAFE) || LOCKS.include?(places.first)
      waiting = true
      program.sleep_in_handler? ? sleep(0.0003) : Fiber.new { sleep(0.0001) && FiberSteps::STRUCK }.resume
      waiting = false
    ensure
      program.struck << Fiber.current if waiting
    end
    watcher = Thread.new { name_hanging { program } }
    limit = now + seconds
    while now < limit
      program = yield Integer(ENV["PELTON_SEED"] || Random.new_seed % 1_000_000_000)
      $stderr.write("\r#{program} ")
      problems = program.call
      count += 1

      assert_empty problems,
        "#{program}: run it again with PELTON_SEED=#{program.seed}\n#{problems.first(5).join("\n")}"
    end
    $stderr.write("\r#{count} programs of fibers in #{seconds} s\n")
  ensure
    watcher&.kill&.join
    trap(:USR1, handler || "DEFAULT")
  end

  # A program that hangs may hold up the test's thread for good, so another one names it, and ends the test if it can.
  def name_hanging
    loop do
      program = yield
      # Many short ones: this process may be stopped, or get no time, for longer
      (HANGS * SLOW * 10).round.times { sleep 0.1 }
      next unless program.equal?(yield) && program
      warn "\n#{program} hangs: run it again with PELTON_SEED=#{program.seed}"
      Process.kill(Guard::SIGNAL, Process.pid)
    end
  end
end
