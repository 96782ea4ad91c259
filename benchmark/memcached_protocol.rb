# frozen_string_literal: true

# The cost of asking a server for its protocol, and of translating for a server that speaks classic text: CPU time of
# this process, as ratios to the meta protocol without a question. (ADR 011)
#
#   bundle exec ruby -Ilib benchmark/memcached_protocol.rb [ROUNDS]

require "pelton/memcached"
require "pelton/lab"
require "pelton/lab/memcached_server"
require "pelton/lab/processes"
require_relative "support/measuring"

ROUNDS = Integer(ARGV[0] || 11)
COUNT = 30_000
CONNECTIONS = 200
Pelton.watchdog = nil # queuing a whole burst takes longer than the threshold
PROTOCOLS = {"meta" => :meta, "meta, asked for" => nil, "classic text" => :classic}.freeze

WORK = {
  "connect, and one get" => lambda do |address, protocol|
    CONNECTIONS.times do
      client = Pelton::Memcached::Client.new(address, protocol: protocol)
      client.get("key-1") == "value 1" or abort "a wrong answer"
      client.close
    end
  end,
  "get, a block each" => lambda do |address, protocol|
    right = 0
    Pelton.run do
      client = Pelton::Memcached::Client.new(address, protocol: protocol)
      COUNT.times { |i| client.get("key-#{i}") { |value| right += 1 if value == "value #{i}" } }
    end
    right == COUNT or abort "a wrong answer"
  end,
  "set, a block each" => lambda do |address, protocol|
    right = 0
    Pelton.run do
      client = Pelton::Memcached::Client.new(address, protocol: protocol)
      COUNT.times { |i| client.set("key-#{i}", "value #{i}") { |stored| right += 1 if stored } }
    end
    right == COUNT or abort "a wrong answer"
  end
}.freeze

processes = Pelton::Lab::Processes.new
begin
  server = Pelton::Lab::MemcachedServer.start(processes, nil)
  address = "127.0.0.1:#{server.port}"
  WORK["set, a block each"].call(address, :meta)
  times = Hash.new { |all, key| all[key] = [] }
  (ROUNDS + 1).times do |round|
    WORK.to_a.product(PROTOCOLS.to_a).shuffle.each do |(work, block), (name, protocol)|
      time = processor_time { block.call(address, protocol) }
      times[[work, name]] << time if round > 0 # the first round warms up
    end
  end
  medians = times.transform_values { |list| median(list) }
  puts RUBY_DESCRIPTION, "memcached #{server.stats["version"]}", "CPU time, medians of #{ROUNDS} rounds, of meta's:"
  puts "  #{" " * 24}#{PROTOCOLS.keys.map { |name| name.rjust(18) }.join}"
  WORK.each_key do |work|
    ratios = PROTOCOLS.keys.map { |name| format("%18.2f", medians[[work, name]] / medians[[work, "meta"]]) }
    puts "  #{work.ljust(24)}#{ratios.join}"
  end
ensure
  processes.stop_all
end
