# frozen_string_literal: true

# The cost of carrying fiber-locals from fiber to fiber (docs/internals/adr/008-fiber-locals-and-stacks.md): a callback that does
# not wait, and one that hands the loop to another fiber and gets it back. CPU time of this process, medians of interleaved
# rounds, ratios to the time without carrying.
#
#     ruby -Ilib benchmark/fiber_locals.rb [ROUNDS]

require "pelton"
require_relative "support/measuring"

CALLBACKS = 100_000
HAND_OVERS = 50_000

def set_locals(count) = count.times { |number| Thread.current[:"benchmark_#{number}"] = number }

# Nanoseconds for each iteration of the measured block.
def measure(count, carry_locals, names)
  seconds = nil
  Thread.new do # the fibers of a new thread are new
    Pelton.run(carry_locals: carry_locals) do
      set_locals(names)
      yield 100
      seconds = processor_time { yield count }
      seen = nil
      Pelton.next_tick { seen = Thread.current[:benchmark_0] }
      sleep 0.001
      raise "not carried" if carry_locals && names > 0 && seen != 0
    end
  end.join
  seconds * 1e9 / count
end

CALLBACK = lambda do |count|
  reactor = Pelton::Reactor.current
  (count / 100).times do
    100.times { reactor.next_tick {} }
    reactor.yield
  end
end

HAND_OVER = lambda do |count|
  queues = [Queue.new, Queue.new]
  Pelton.next_tick { count.times { queues[1].push(queues[0].pop) } }
  count.times do
    queues[0].push(1)
    queues[1].pop
  end
end

rounds = Integer(ARGV[0] || 7)
contenders = [[false, 0], [true, 0], [true, 3], [true, 10]]
{"a callback" => [CALLBACKS, CALLBACK], "a hand-over there and back" => [HAND_OVERS, HAND_OVER]}.each do |name, (count, work)|
  results = Hash.new { |hash, key| hash[key] = [] }
  rounds.times { contenders.shuffle.each { |contender| results[contender] << measure(count, *contender, &work) } }
  baseline = median(results[contenders[0]])
  contenders.each do |carries, names|
    own = results[[carries, names]]
    puts format("%-27s %-26s %6.0f ns (%.0f..%.0f)  %.2f", name, carries ? "carried, #{names} names" : "not carried",
      median(own), *own.minmax, median(own) / baseline)
  end
end
