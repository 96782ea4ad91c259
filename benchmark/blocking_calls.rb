# frozen_string_literal: true

# What Ruby 3.4's hooks blocking_operation_wait and io_pread cost: ratios to the same calls outside of Pelton.run. The ways: all
# calls go to threads, there is no hook, or they are made in place until they were found long (Pelton's own). And the longest
# gap that a large inflation leaves in the loop. Rounds are interleaved.
#
#     bundle exec ruby -Ilib benchmark/blocking_calls.rb [ROUNDS]

require "pelton"
require "zlib"
require_relative "support/measuring"

abort "Ruby 3.4 or newer is needed" if RUBY_VERSION < "3.4"
COUNT = 300
rounds = Integer(ARGV[0] || 15)
Pelton.watchdog = nil

random = Random.new(1)
lines = Array.new(1_600_000) { "<li class=\"m#{random.rand(100)}\">#{random.rand(36**5).to_s(36)} says</li>\n" }
PAGE = Zlib.deflate(lines.first(337).join)
SMALL = Zlib.deflate("x" * 300)
LARGE = Zlib.deflate(lines.join.byteslice(0, 50_000_000), 1)
FILE = File.open(__FILE__)

HOOKS = %i[blocking_operation_wait io_pread].freeze
OURS = HOOKS.to_h { |name| [name, Pelton::Scheduler.instance_method(name)] }
THREADS = {
  blocking_operation_wait: ->(work) { Pelton::Offload::POOL.call_to_end { work.call } },
  io_pread: lambda do |io, buffer, from, _length, offset|
    string = Pelton::Offload::POOL.call { io.pread(buffer.size, from) }
    buffer.set_string(string, offset) && string.bytesize
  end
}.freeze
WAYS = {"threads" => THREADS, "no hook" => nil, "in place" => OURS}.freeze
CALLS = {
  "inflate, 2.4 KB to 10.8 KB" => -> { Zlib.inflate(PAGE) },
  "inflate, 20 bytes" => -> { Zlib.inflate(SMALL) },
  "File.stat" => -> { File.stat(__FILE__) },
  "File.open { }" => -> { File.open(__FILE__) {} },
  "IO#pread, 100 bytes" => -> { FILE.pread(100, 0) }
}.freeze

def use(hooks)
  HOOKS.each do |name|
    Pelton::Scheduler.define_method(name, (hooks || OURS)[name])
    Pelton::Scheduler.undef_method(name) unless hooks
  end
end

def seconds
  start = Pelton::Clock.now
  yield
  Pelton::Clock.now - start
end

# Beside a task that sleeps half a millisecond, over and over.
def longest_gap
  longest, done, last = 0, false, Pelton::Clock.now
  ticker = Pelton.spawn do
    until done
      sleep 0.0005
      longest, last = [longest, Pelton::Clock.now - last].max, Pelton::Clock.now
    end
  end
  yield
  sleep 0.002
  done = true
  ticker.await
  longest
end

ratios, plain, gaps = Array.new(3) { Hash.new { |all, key| all[key] = [] } }
rounds.times do
  CALLS.to_a.product(WAYS.to_a).shuffle.each do |(call, work), (way, hooks)|
    use(hooks)
    plain[call] << seconds { COUNT.times { work.call } } / COUNT
    ratios[[call, way]] << Pelton.run { seconds { COUNT.times { work.call } } } / COUNT / plain[call].last
  end
end
[rounds, 3].min.times do
  WAYS.each do |way, hooks|
    use(hooks)
    gaps[way] << Pelton.run { longest_gap { Zlib.inflate(LARGE).bytesize == 50_000_000 || abort("lost something") } }
  end
end

puts RUBY_DESCRIPTION, "medians of #{rounds} rounds of #{COUNT}: us outside of Pelton.run, and ratios to that"
puts "plain".rjust(39) + WAYS.keys.map { |way| format("%10s", way) }.join
CALLS.each_key do |call|
  puts format("  %-28s %8.2f", call, median(plain[call]) * 1e6) + WAYS.keys.map { |way| format("%10.2f", median(ratios[[call, way]])) }.join
end
puts "  longest gap, 50 MB inflated: ms".ljust(39) + WAYS.keys.map { |way| format("%10.0f", median(gaps[way]) * 1e3) }.join
