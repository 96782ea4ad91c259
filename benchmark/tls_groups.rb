# frozen_string_literal: true

# The claim: a client that may choose a large finite field makes a server compute hundreds of times as long for a handshake.
#
#   ruby -Ilib benchmark/tls_groups.rb [ROUNDS]
#
# Both sides are in this process; times are its CPU time for one handshake. The groups alternate. Ratios are of
# medians, to X25519.

require "pelton"
require_relative "support/measuring"
require_relative "../test/support/certificates"

ROUNDS = Integer(ARGV[0] || 5)
HANDSHAKES = {"X25519" => 20, "P-256" => 20, "P-384" => 20, "P-521" => 20, "ffdhe2048" => 20, "ffdhe4096" => 5, "ffdhe8192" => 2}.freeze

CONTEXTS = HANDSHAKES.keys.to_h do |group|
  options = {groups: group, resumption: false}
  [group, [Pelton::TLS::Context.new(**Certificates.server.to_h, **options), Pelton::TLS::Context.new(ca_file: Certificates.authority, **options)]]
end.freeze

def shake_hands(group)
  server, client = CONTEXTS.fetch(group)
  one, other = Pelton::Stream.pair
  task = Pelton.spawn { other.start_tls(server, server: true) }
  one.start_tls(client, server_name: "localhost")
  task.await
  raise "no TLS" unless one.tls.verified
  one.abort
  other.abort
end

Pelton.watchdog = nil
times = Hash.new { |all, group| all[group] = [] }
Pelton.run do
  HANDSHAKES.each_key { |group| shake_hands(group) }
  ROUNDS.times { HANDSHAKES.each { |group, count| times[group] << processor_time { count.times { shake_hands(group) } } / count } }
end
medians = times.transform_values { |all| median(all) }
medians.each do |group, median|
  puts format("%-10s %7.1f ms   %5.1f-%5.1f   %6.1f x X25519", group, median * 1e3, times[group].min * 1e3, times[group].max * 1e3, median / medians["X25519"])
end
