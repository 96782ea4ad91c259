# frozen_string_literal: true

# The cost of Timeout.timeout around a block that ends in time: on the scheduler, where it is a timer of the loop, beside
# Timeout's own implementation, which uses a thread. Rounds are interleaved; the ratio is of medians.
#
#     bundle exec ruby -Ilib benchmark/scheduler_timeout.rb [ROUNDS]

require "pelton"
require_relative "support/measuring"

COUNT = 2_000
rounds = Integer(ARGV[0] || 9)

# Nanoseconds.
def time = wall_and_processor_time { COUNT.times { yield } }.first * 1e9 / COUNT

contenders = {
  "Timeout's own way" => -> { time { Timeout.timeout(5) { 1 } } },
  "on the scheduler" => -> { Pelton.run { time { Timeout.timeout(5) { 1 } } } },
  "on the scheduler, another class" => -> { Pelton.run { time { Timeout.timeout(5, IOError) { 1 } } } }
}

late = -> { Timeout.timeout(0.001) { sleep } }
[late, -> { Pelton.run(&late) }].each do |way|
  way.call
  abort "does not raise"
rescue Timeout::Error
  nil
end

times = Hash.new { |all, name| all[name] = [] }
rounds.times { contenders.to_a.shuffle.each { |name, run| times[name] << run.call } }
medians = times.transform_values { |all| median(all) }
puts RUBY_DESCRIPTION, "ns a Timeout.timeout, medians of #{rounds} rounds of #{COUNT}:"
contenders.each_key do |name|
  puts format("  %-32s %8.0f [%6.0f..%6.0f]  %.3f", name, medians[name], *times[name].minmax, medians[name] / medians["Timeout's own way"])
end
