# frozen_string_literal: true

# EventMachine programs on Pelton beside the same on the gem eventmachine: echo with 64 connections, receiving and
# proxying in bulk, timers, ticks, defer's round trip, and the memory of connections. Times are the process's CPU time, which is
# all of the time while a loop has work; defer is measured in wall-clock time. Each measurement is a Ruby of its own, the
# contenders alternate, and each ratio is Pelton's median by the gem's, so below 1 is faster or smaller.
#
#     ruby benchmark/eventmachine_echo.rb [ROUNDS [NAME]]

require "open3"
require "rbconfig"
require_relative "support/eventmachine"
require_relative "support/measuring"

PRELUDE = <<~'RUBY'
  require "socket"
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  def rss = File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_f
  def port(signature) = Socket.unpack_sockaddr_in(EM.get_sockname(signature)).first
  EM.epoll
  EM.set_descriptor_table_size(25_000) rescue nil
RUBY

# Each program prints one number: seconds, or kilobytes.
PROGRAMS = {
  "echo, 64 connections" => <<~RUBY,
    count = 60_000
    done = 0
    start = nil
    echo = Module.new { def receive_data(data) = send_data(data) }
    message = "x" * 64
    client = Module.new do
      define_method(:connection_completed) { send_data(message) }
      define_method(:receive_data) do |data|
        start ||= cpu
        abort "wrong" unless data == message
        (done += 1) == count ? EM.stop : send_data(message)
      end
    end
    EM.run do
      at = port(EM.start_server("127.0.0.1", 0, echo))
      64.times { EM.connect("127.0.0.1", at, client) }
    end
    puts cpu - start
  RUBY
  "receive_data in bulk, 256 MB" => <<~RUBY,
    size = 256 * 1024 * 1024
    got = 0
    start = nil
    sink = Module.new do
      define_method(:receive_data) do |data|
        start ||= cpu
        (got += data.bytesize) == size and EM.stop
      end
    end
    listener = TCPServer.new("127.0.0.1", 0)
    at = listener.local_address.ip_port
    pid = fork do
      peer = listener.accept
      piece = "x" * (1024 * 1024)
      256.times { peer.write(piece) }
      peer.read
    end
    EM.run { EM.connect("127.0.0.1", at, sink) }
    abort "wrong" unless got == size
    puts cpu - start
    Process.kill(:KILL, pid)
  RUBY
  "proxy in bulk, 256 MB" => <<~RUBY,
    size = 256 * 1024 * 1024
    listener = TCPServer.new("127.0.0.1", 0)
    sum, sum_writer = IO.pipe
    sink = fork do
      peer = listener.accept
      buffer = +""
      got = 0
      got += buffer.bytesize while peer.read(65_536, buffer)
      sum_writer.puts got
    end
    at = listener.local_address.ip_port
    start = nil
    EM.run do
      target = EM.connect("127.0.0.1", at)
      from = Module.new do
        define_method(:post_init) { (start = cpu) && EM.enable_proxy(self, target, 1_000_000) }
        define_method(:unbind) { target.close_connection_after_writing }
      end
      target.define_singleton_method(:unbind) { EM.stop }
      front = port(EM.start_server("127.0.0.1", 0, from))
      fork do
        peer = TCPSocket.new("127.0.0.1", front)
        piece = "x" * (1024 * 1024)
        256.times { peer.write(piece) }
        peer.close
        exit!
      end
    end
    spent = cpu - start
    abort "wrong" unless sum.gets.to_i == size
    puts spent
    Process.wait(sink)
  RUBY
  "timer: add and fire" => <<~RUBY,
    count = 50_000
    fired = 0
    EM.set_max_timers(count + 10)
    start = nil
    EM.run do
      start = cpu
      count.times { |i| EM.add_timer((i % 100) / 1000.0) { (fired += 1) == count and EM.stop } }
    end
    puts cpu - start
  RUBY
  "timer: add and cancel" => <<~RUBY,
    count = 100_000
    EM.set_max_timers(count + 10)
    EM.run do
      start = cpu
      timers = Array.new(count) { EM.add_timer(60) { } }
      timers.each { |timer| EM.cancel_timer(timer) }
      puts cpu - start
      EM.stop
    end
  RUBY
  "next_tick" => <<~RUBY,
    count = 100_000
    start = cpu
    EM.run do
      tick = proc { (count -= 1).zero? ? EM.stop : EM.next_tick(tick) }
      EM.next_tick(tick)
    end
    puts cpu - start
  RUBY
  "next_tick, 100 at a time" => <<~RUBY,
    count = 300_000
    start = cpu
    EM.run do
      100.times do
        tick = proc { (count -= 1) <= 0 ? (EM.stop if EM.reactor_running?) : EM.next_tick(tick) }
        EM.next_tick(tick)
      end
    end
    puts cpu - start
  RUBY
  "defer's round trip" => <<~RUBY,
    count = 3_000
    start = nil
    EM.run do
      work = -> { 1 }
      back = lambda do |_|
        start ||= now
        (count -= 1).zero? ? EM.stop : EM.defer(work, back)
      end
      EM.defer(work, back)
    end
    puts now - start
  RUBY
  "memory, 5,000 connections both ends" => <<~RUBY
    count = 5_000
    open = 0
    EM.run do
      before = rss
      at = port(EM.start_server("127.0.0.1", 0))
      client = Module.new do
        define_method(:connection_completed) do
          next unless (open += 1) == count
          EM.add_timer(0.1) do
            GC.start
            puts rss - before
            exit!(0) if $stdout.flush
          end
        end
      end
      connect = lambda do |left|
        [left, 100].min.times { EM.connect("127.0.0.1", at, client) }
        EM.add_timer(0.005) { connect.call(left - 100) } if left > 100
      end
      connect.call(count)
    end
  RUBY
}.freeze

CONTENDERS = {
  pelton: ON_PELTON,
  gem: ["-e", "gem 'eventmachine', '1.2.7'; require 'eventmachine'; eval($stdin.read)"]
}.freeze

def measure(contender, program)
  options = CONTENDERS.fetch(contender)
  options += ["-e", "eval($stdin.read)"] if contender == :pelton
  output, status = Open3.capture2(RbConfig.ruby, "-W0", *options, stdin_data: PRELUDE + program)
  abort "#{contender} failed: #{output}" unless status.success?
  Float(output)
end

rounds = Integer(ARGV[0] || 7)
puts RUBY_DESCRIPTION, "medians of #{rounds} rounds"
PROGRAMS.each do |name, program|
  next if ARGV[1] && !name.include?(ARGV[1])
  results = {pelton: [], gem: []}
  rounds.times { results.keys.shuffle.each { |contender| results[contender] << measure(contender, program) } }
  medians = results.transform_values { |all| median(all) }
  puts format("  %-36s pelton %9.3f [%.3f..%.3f]  gem %9.3f [%.3f..%.3f]  %.2f", name, medians[:pelton], *results[:pelton].minmax,
    medians[:gem], *results[:gem].minmax, medians[:pelton] / medians[:gem])
end
