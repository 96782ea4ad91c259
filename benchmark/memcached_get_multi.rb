# frozen_string_literal: true

# The claim: get_multi of 1,000 keys takes a quarter of dalli's time or less.
#
#   bundle exec ruby -Ilib benchmark/memcached_get_multi.rb [ROUNDS]
#
# The contenders get the same keys of one memcached, alternating; every answer is compared with the stored values. Ratios are of medians.

require "dalli"
require "pelton/memcached"
require "pelton/lab"
require "pelton/lab/memcached_server"
require "pelton/lab/processes"
require_relative "support/measuring"

KEYS = 1_000
TIMES = 10
ROUNDS = Integer(ARGV[0] || 11)
VALUES = (0...KEYS).to_h { |i| ["key-#{i}", "value #{i} ".ljust(100, "x")] }.freeze

def measure
  wall_and_processor_time { TIMES.times { yield == VALUES or abort "a wrong answer" } }
end

processes = Pelton::Lab::Processes.new
begin
  server = Pelton::Lab::MemcachedServer.start(processes, nil)
  address = "127.0.0.1:#{server.port}"
  dalli = Dalli::Client.new(address, protocol: :meta, raw: true)
  pelton = Pelton::Memcached::Client.new(address)
  pelton.set_multi(VALUES)
  keys = VALUES.keys
  contenders = {
    "dalli" => -> { measure { dalli.get_multi(keys) } },
    "Pelton, in a reactor" => -> { Pelton.run { measure { pelton.get_multi(keys) } } },
    "Pelton, no reactor" => -> { measure { pelton.get_multi(keys) } }
  }
  contenders.each_value(&:call)
  times = Hash.new { |all, name| all[name] = [] }
  ROUNDS.times { contenders.to_a.shuffle.each { |name, work| times[name] << work.call } }
  medians = times.transform_values { |pairs| pairs.transpose.map { |list| median(list) } }
  puts RUBY_DESCRIPTION, "memcached #{server.stats["version"]}", "get_multi of #{KEYS} keys, #{ROUNDS} rounds of #{TIMES}; of dalli's:"
  puts "#{" " * 29}wall    CPU"
  medians.each do |name, times|
    puts format("  %-24s %6.2f %6.2f", name, *times.zip(medians["dalli"]).map { |own, theirs| own / theirs })
  end
ensure
  processes.stop_all
end
