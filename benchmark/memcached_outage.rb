# frozen_string_literal: true

# The claim: when one server of five dies or freezes, its own callers wait for their deadline at most, and no other caller waits longer.
#
#   bundle exec ruby -Ilib benchmark/memcached_outage.rb [SECONDS]
#
# Fibers store and get keys of all five; each answer is checked. The latency of operations on the four other servers, in the median and
# the 99th percentile, is compared with the latency before; the longest wait of the fifth server's callers is compared with their deadline.

require "pelton/memcached"
require "pelton/lab"
require "pelton/lab/memcached_server"
require "pelton/lab/processes"

SECONDS = Float(ARGV[0] || 1.5)
DEADLINE = 0.1
FIBERS = 40

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def percentile(list, share) = list.sort[(list.size * share).to_i]

# Runs the load. The block gets a Proc that sets the name of the current phase.
def load(cache, ring)
  phase = nil
  times = Hash.new { |all, key| all[key] = [] }
  FIBERS.times do |number|
    Pelton.spawn do
      (0..).each do |count|
        break if phase == :over
        key = "#{number}-#{count % 50}"
        began_in, started = phase, now
        begin
          cache.set(key, key)
          value = cache.get(key)
          abort "a wrong answer" unless value.nil? || value == key
        rescue Pelton::ConnectionError, Pelton::TimeoutError
          nil
        end
        times[[(ring.index(key) == 2) ? :fifth : :others, began_in]] << (now - started) / 2 if began_in == phase
        sleep 0.002
      end
    end
  end
  yield ->(name) { (phase = name) && sleep(SECONDS) }
  phase = :over
  times
end

processes = Pelton::Lab::Processes.new
begin
  {"killed, and others take its keys" => ["KILL", true], "killed, its keys fail" => ["KILL", false],
   "frozen, and others take its keys" => ["STOP", true], "frozen, its keys fail" => ["STOP", false]}.each do |name, (signal, failover)|
    servers = Array.new(5) { Pelton::Lab::MemcachedServer.start(processes, nil) }
    addresses = servers.map { |server| "127.0.0.1:#{server.port}" }
    ring = Pelton::Memcached::HashRing.new(addresses)
    times = Pelton.run do
      cache = Pelton::Memcached::Client.new(addresses, timeout: DEADLINE, failover: failover)
      load(cache, ring) do |phase|
        phase.call(:warming)
        phase.call(:before)
        Process.kill(signal, servers[2].pid)
        phase.call(:without)
      end
    end
    before, without = times[%i[others before]], times[%i[others without]]
    median, slowest = [0.5, 0.99].map { |share| percentile(without, share) / percentile(before, share) }
    longest = times[%i[fifth without]].max * 2 / DEADLINE
    puts format("%-34s others: %.2f in the median, %.2f in the slowest of a hundred; its own: %.1f deadlines at most", name, median, slowest, longest)
    servers.each { |server| Process.kill("KILL", server.pid) }
  end
ensure
  processes.stop_all
end
