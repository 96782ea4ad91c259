# frozen_string_literal: true

# Article 000's asynchronous half (pelton-lab/examples/articles/000_memcached.rb): set, get and delete by EM::P::Memcache, on Pelton beside the
# gem eventmachine. Each run is a Ruby of its own on one core, the contenders alternate, and the values read are checked. The results are
# CPU time, and the ratio is Pelton's median by the gem's.
#
#     ruby benchmark/eventmachine_memcache.rb [ROUNDS [KEYS]]

require "open3"
require "rbconfig"
require "socket"
require_relative "support/eventmachine"
require_relative "support/measuring"

PROGRAM = <<~'RUBY'
  require "eventmachine"
  count = Integer(ARGV[1])
  right = 0
  deleted = 0
  start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  EM.run do
    cache = EM::P::Memcache.connect("127.0.0.1", Integer(ARGV[0]))
    (1..count).each { |n| cache.set("key#{n}", "value#{n}") {} }
    (1..count).each { |n| cache.get("key#{n}") { |value| right += 1 if value == "value#{n}" } }
    (1..count).each { |n| cache.del("key#{n}") { |done| deleted += 1 if done; EM.stop if n == count } }
  end
  time = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
  abort "#{right} of #{count} values were right, #{deleted} were deleted" unless right == count && deleted == count
  puts time
RUBY

CONTENDERS = {
  "gem" => ["-e", "gem 'eventmachine', '1.2.7'; eval(ARGV.shift)"],
  "Pelton" => [*ON_PELTON, "-e", "eval(ARGV.shift)"]
}.freeze

def run(options, *arguments)
  output, errors, status = Open3.capture3("taskset", "-c", "0", RbConfig.ruby, "-W0", *options, PROGRAM, *arguments.map(&:to_s))
  abort "#{output}#{errors}" unless status.success?
  Float(output)
end

rounds = Integer(ARGV.fetch(0, 5))
keys = Integer(ARGV.fetch(1, 100_000))
port = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }
user = Process.uid.zero? ? %w[-u nobody] : []
memcached = Process.spawn("memcached", "-l", "127.0.0.1", "-p", port.to_s, "-m", "256", *user)
begin
  sleep 0.1 until begin
    TCPSocket.new("127.0.0.1", port).close.nil?
  rescue SystemCallError
    false
  end
  times = Hash.new { |hash, name| hash[name] = [] }
  rounds.times { CONTENDERS.each { |name, options| times[name] << run(options, port, keys) } }
  medians = times.transform_values { |all| median(all) }
  puts "#{RUBY_DESCRIPTION}\n#{3 * keys} operations, #{rounds} rounds"
  medians.each { |name, median| puts format("%-8s %6.2f s, %5.2f us an operation", name, median, median / keys / 3 * 1e6) }
  puts format("ratio    %6.3f", medians["Pelton"] / medians["gem"])
ensure
  Process.kill(:TERM, memcached)
  Process.wait(memcached)
end
