# frozen_string_literal: true

# The cost of a wait and a wake-up: two tasks that alternate, by Queue and by awaiting operations, beside
# two threads and, where the gem async is installed, two of its tasks. CPU time of the process for one wait and wake-up; rounds
# are interleaved, each in a fresh process, and the ratio is of medians.
#
#     bundle exec ruby -Ilib benchmark/parking.rb [ROUNDS]

require "rbconfig"
require_relative "support/measuring"

COUNT = 100_000 # waits, half of them on each side

CONTENDERS = {
  "two threads, Queue" => <<~RUBY,
    def contend
      there, back = Queue.new, Queue.new
      other = Thread.new { (COUNT / 2).times { back << there.pop + 1 } }
      (COUNT / 2).times { there << 1 and SEEN << back.pop }
      other.join
    end
  RUBY
  "pelton, Queue" => <<~RUBY,
    require "pelton"
    def contend
      Pelton.run do
        there, back = Queue.new, Queue.new
        Pelton.spawn { (COUNT / 2).times { back << there.pop + 1 } }
        (COUNT / 2).times { there << 1 and SEEN << back.pop }
      end
    end
  RUBY
  "pelton, Operation" => <<~RUBY,
    require "pelton"
    def contend
      Pelton.run do
        there, back = Pelton::Operation.new, Pelton::Operation.new
        Pelton.spawn do
          (COUNT / 2).times do
            value = there.await
            there = Pelton::Operation.new
            back.succeed(value + 1)
          end
        end
        (COUNT / 2).times do
          there.succeed(1)
          SEEN << back.await
          back = Pelton::Operation.new
        end
      end
    end
  RUBY
  "pelton, sleep(0) in two tasks" => <<~RUBY,
    require "pelton"
    def contend
      Pelton.run do
        tasks = Array.new(2) { Pelton.spawn { (COUNT / 2).times { sleep(0) } } }
        tasks.each(&:await)
        SEEN.concat([2] * (COUNT / 2))
      end
    end
  RUBY
  "async, Queue" => <<~RUBY
    require "async"
    def contend
      Async do |task|
        there, back = Queue.new, Queue.new
        task.async { (COUNT / 2).times { back << there.pop + 1 } }
        (COUNT / 2).times { there << 1 and SEEN << back.pop }
      end.wait
    end
  RUBY
}.freeze

MEASURE = <<~RUBY
  COUNT = Integer(ARGV[0])
  SEEN = []
  contend
  abort "wrong" unless SEEN == [2] * (COUNT / 2) # everything is warmed up now
  SEEN.clear
  clock = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) }
  start = clock.call
  contend
  print (clock.call - start) / COUNT
RUBY

# Runs without Bundler, which would hide a gem that is not in the Gemfile.
def measure(program)
  without = ENV.keys.grep(/\A(BUNDLE|BUNDLER|RUBYOPT|RUBYLIB)/).to_h { |name| [name, nil] }
  output = IO.popen([without, RbConfig.ruby, *$LOAD_PATH.map { |path| "-I#{path}" }, "-e", program + MEASURE, COUNT.to_s], err: File::NULL, &:read)
  $?.success? ? Integer(output) : nil
end

rounds = Integer(ARGV[0] || 7)
times = Hash.new { |all, name| all[name] = [] }
rounds.times { CONTENDERS.to_a.shuffle.each { |name, program| times[name] << measure(program) } }
absent, present = CONTENDERS.keys.partition { |name| times[name].include?(nil) }
abort "wrong results" if absent.any? { |name| name.start_with?("pelton", "two") }

medians = present.to_h { |name| [name, median(times[name])] }
puts RUBY_DESCRIPTION, "ns of CPU for a wait and its wake-up, medians of #{rounds} rounds of #{COUNT}:"
present.each do |name|
  puts format("  %-32s %6d [%6d..%6d]  %.3f", name, medians[name], *times[name].minmax, medians[name] / medians["two threads, Queue"].to_f)
end
absent.each { |name| puts format("  %-32s not installed", name) }
