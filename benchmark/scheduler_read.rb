# frozen_string_literal: true

# The cost of the hook io_read, beside Ruby's own reading with the hook io_wait alone: CPU time an operation. And the effect that a
# hook io_write would have on puts: the pieces in which its line arrives. Rounds are interleaved; ratios are of medians.
#
#     bundle exec ruby -Ilib benchmark/scheduler_read.rb [ROUNDS]

require "pelton"
require "socket"
require_relative "support/measuring"

COUNT = 10_000
READ = Pelton::Scheduler.instance_method(:io_read)
rounds = Integer(ARGV[0] || 9)

def hook(on)
  if on
    Pelton::Scheduler.define_method(:io_read, READ)
  elsif Pelton::Scheduler.method_defined?(:io_read)
    Pelton::Scheduler.undef_method(:io_read)
  end
end

def echo(read, write)
  here, there = UNIXSocket.pair
  task = Pelton.spawn { COUNT.times { write.call(there, read.call(there)) } }
  last = nil
  COUNT.times do
    write.call(here, "0123456789abcdef\n")
    last = read.call(here)
  end
  task.await
  abort "lost something" unless last == "0123456789abcdef\n" && here.read_nonblock(1, exception: false) == :wait_readable
end

WORK = {
  "readpartial, two fibers" => -> { echo(->(io) { io.readpartial(4096) }, ->(io, text) { io.write(text) }) },
  "gets, two fibers" => -> { echo(->(io) { io.gets }, ->(io, text) { io.puts(text) }) },
  "readpartial, always ready" => -> {
    here, there = UNIXSocket.pair
    COUNT.times { here.write("x") && there.readpartial(10) == "x" || abort("lost something") }
  },
  "4 KB of a file" => -> { File.open("/dev/zero") { |file| COUNT.times { file.readpartial(4096) } } }
}

times = Hash.new { |all, key| all[key] = [] }
rounds.times do
  WORK.to_a.product([true, false]).shuffle.each do |(name, work), on|
    hook(on)
    times[[name, on]] << processor_time { Pelton.run(&work) } * 1e6 / COUNT
  end
end
puts RUBY_DESCRIPTION, "CPU us an operation, medians of #{rounds} rounds of #{COUNT}:"
puts "#{" " * 32}io_read  io_wait ratio"
WORK.each_key do |name|
  with, without = [true, false].map { |on| median(times[[name, on]]) }
  puts format("  %-28s %8.2f %8.2f %5.2f", name, with, without, with / without)
end

# The simplest possible hook: it shows how often Ruby calls it.
hook(true)
arrivals = lambda do
  here, there = Socket.pair(:UNIX, :SEQPACKET)
  Pelton.run { here.puts("a line") }
  here.close
  Array.new(2) { there.recv(100) }.reject { |piece| piece.nil? || piece.empty? }
end
puts "puts(\"a line\") arrives as #{arrivals.call.inspect}"
Pelton::Scheduler.define_method(:io_write) { |io, buffer, *| io.write_nonblock(buffer.get_string) }
puts "with a hook io_write, as  #{arrivals.call.inspect}"
