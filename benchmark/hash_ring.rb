# frozen_string_literal: true

# The cost of finding a key's server, beside the same look-up in Ruby (Digest::MD5 and bsearch over the same points), and
# beside dalli's ring where dalli is installed. Rounds are interleaved; the ratios are of medians.
#
#     bundle exec ruby -Ilib benchmark/hash_ring.rb [SERVERS [ROUNDS]]

require "digest/md5"
require "pelton/memcached"
require "pelton/memcached/hash_ring"
require_relative "support/measuring"

HashRing = Pelton::Memcached::HashRing
KEYS = Array.new(10_000) { |i| "user:#{i * 7919}:profile" }.freeze
count = Integer(ARGV[0] || 5)
rounds = Integer(ARGV[1] || 9)
servers = Array.new(count) { |i| "10.0.0.#{i}:11211" }

points = servers.each_index.flat_map { |i|
  Array.new(40) { |n| Digest::MD5.digest("10.0.0.#{i}-#{n}").unpack("V4").map { |value| [value, i] } }.flatten(1)
}.sort
in_ruby = lambda do |key|
  hash = Digest::MD5.digest(key).unpack1("V")
  (points.bsearch { |value, _| value >= hash } || points.first).last
end

contenders = {
  "HashRing, md5" => HashRing.new(servers).method(:index),
  "HashRing, fnv1_32" => HashRing.new(servers, hash: :fnv1_32).method(:index),
  "in Ruby" => in_ruby
}
begin
  require "dalli"
  dalli = Dalli::Ring.new(servers, Dalli::Protocol::Meta, {silence_marshal_warning: true})
  contenders["dalli's ring"] = ->(key) { dalli.send(:server_for_hash_key, dalli.send(:hash_for, key)) }
rescue LoadError
  nil # dalli is not installed, or Bundler hides it
end

abort "placed wrongly" unless KEYS.all? { |key| contenders["HashRing, md5"].call(key) == in_ruby.call(key) }

times = Hash.new { |all, name| all[name] = [] }
contenders["nothing"] = ->(key) {}
rounds.times do
  contenders.each do |name, find|
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    10.times { KEYS.each(&find) }
    times[name] << (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start) / (10.0 * KEYS.size)
  end
end

medians = times.transform_values { |all| median(all) }
puts RUBY_DESCRIPTION, "#{count} servers, ns a look-up, medians of #{rounds} rounds:"
medians.each do |name, time|
  puts format("  %-18s %7.0f [%5.0f..%5.0f]  %5.2f of Ruby's", name, time, *times[name].minmax, time / medians["in Ruby"])
end
