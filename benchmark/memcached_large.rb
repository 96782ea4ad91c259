# frozen_string_literal: true

# The claim: a get of one megabyte costs at most 1.2 times the CPU time of reading a megabyte from a bare socket.
#
#   bundle exec ruby -Ilib benchmark/memcached_large.rb [ROUNDS]
#
# The bare socket asks the same memcached for the same value, and reads it by Ruby's own IO: a fresh string each time, as
# the client's values are. Every value's length and first bytes are checked, and one whole value a round. Ratios are
# of medians of this process's CPU time.

require "pelton/memcached"
require "pelton/lab"
require "pelton/lab/memcached_server"
require "pelton/lab/processes"
require_relative "support/measuring"

TIMES = 100
ROUNDS = Integer(ARGV[0] || 11)
VALUE = Random.new(1).bytes(1_000_000).freeze

def measure
  value = nil
  cpu = processor_time do
    TIMES.times do
      value = yield
      abort "a wrong value" unless value.bytesize == VALUE.bytesize && value.start_with?(VALUE.byteslice(0, 16))
    end
  end
  abort "a wrong value" unless value == VALUE
  GC.start
  cpu
end

def bare(socket, buffer = nil)
  socket.write("mg large v\r\n")
  length = Integer(socket.gets.split[1])
  value = socket.read(length, *buffer)
  socket.read(2)
  value
end

processes = Pelton::Lab::Processes.new
begin
  server = Pelton::Lab::MemcachedServer.start(processes, nil)
  client = Pelton::Memcached::Client.new("127.0.0.1:#{server.port}")
  client.set("large", VALUE)
  socket = TCPSocket.new("127.0.0.1", server.port)
  buffer = String.new(capacity: VALUE.bytesize)
  contenders = {
    "a bare socket" => -> { measure { bare(socket) } },
    "a bare socket, one string" => -> { measure { bare(socket, buffer) } },
    "Pelton, in a reactor" => -> { Pelton.run { measure { client.get("large") } } },
    "Pelton, no reactor" => -> { measure { client.get("large") } }
  }
  contenders.each_value(&:call)
  times = Hash.new { |all, name| all[name] = [] }
  ROUNDS.times { contenders.to_a.shuffle.each { |name, work| times[name] << work.call } }
  medians = times.transform_values { |list| median(list) }
  puts RUBY_DESCRIPTION, "memcached #{server.stats["version"]}", "get of #{VALUE.bytesize} bytes, #{ROUNDS} rounds of #{TIMES}; CPU time of a bare socket's:"
  medians.each { |name, cpu| puts format("  %-26s %5.2f", name, cpu / medians["a bare socket"]) }
ensure
  processes.stop_all
end
