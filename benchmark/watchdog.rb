# frozen_string_literal: true

# The claim: the watchdog may always be on, since it costs a busy loop about nothing.
#
# Three programs, in rounds that alternate: with the watchdog and without. "yields" runs the loop without waiting,
# "callbacks" makes a loop iteration for each callback, "echo" waits in each iteration for another process. Then an idle process.
#
#   bundle exec ruby -Ilib benchmark/watchdog.rb [ROUNDS]

require "pelton"
require "socket"
require_relative "support/measuring"

ROUNDS = Integer(ARGV[0] || 15)

near, far = UNIXSocket.pair
echo = fork do
  near.close
  loop { far.write(far.readpartial(64)) }
rescue EOFError
  exit!(0)
end
far.close

PROGRAMS = {
  "yields" => [100_000, lambda { |count|
    done = 0
    reactor = Pelton::Reactor.current
    Pelton.run do
      tasks = Array.new(2) { Pelton.spawn { (count / 2).times { (done += 1) && reactor.yield } } }
      tasks.each(&:await)
    end
    done
  }],
  "callbacks" => [100_000, lambda { |count|
    done = 0
    step = -> { Pelton.next_tick(&step) if (done += 1) < count }
    Pelton.run { step.call }
    done
  }],
  "echo" => [5_000, lambda { |count|
    Pelton.run { Array.new(count) { near.write("ping") && near.readpartial(64) }.count("ping") }
  }]
}.freeze

def measure(program, count)
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  done = program.call(count)
  time = Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
  abort "#{done} of #{count} were done" unless done == count
  time * 1e9 / count
end

PROGRAMS.each do |name, (count, program)|
  times = {Pelton::Watchdog::DEFAULT => [], nil => []}
  measure(program, count)
  ROUNDS.times do
    times.keys.shuffle.each do |threshold|
      Pelton.watchdog = threshold
      times[threshold] << measure(program, count)
    end
  end
  on, off = times.values.map { |values| median(values) }
  puts format("%-10s on %8.1f ns  off %8.1f ns  ratio %.3f", name, on, off, on / off)
end

def wakes
  thread = Dir["/proc/self/task/*"].find { |task| File.read("#{task}/comm") == "pelton-watchdog\n" }
  File.foreach("#{thread}/status").sum { |line| line.include?("ctxt_switches") ? line[/\d+/].to_i : 0 }
end

Pelton.watchdog = Pelton::Watchdog::DEFAULT
[0.01, 0.1, 1, 4].each do |pause|
  Pelton.run do
    before = wakes
    (count = (4 / pause).to_i).times { sleep pause }
    puts format("a timer each %4g s: the watchdog wakes %5.2f times a second", pause, (wakes - before) / (count * pause))
  end
end
near.close
Process.wait(echo)
