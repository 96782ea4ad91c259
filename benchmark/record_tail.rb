# frozen_string_literal: true

# The page of five user names from a database, for 64 clients and a pool of 20 connections: how much longer the slowest in a hundred wait
# than half of them. `pelton serve` is on one core, wrk on the other.
#
#   bundle exec ruby -Ilib benchmark/record_tail.rb     (ROUNDS=5 SECONDS=3 ONLY=sqlite; needs wrk; PostgreSQL and MariaDB where they are installed)

require_relative "support/record_databases"
require_relative "support/record_server"
require_relative "support/measuring"

ROUNDS = Integer(ENV.fetch("ROUNDS", "5"))
SECONDS = Integer(ENV.fetch("SECONDS", "3"))
NAMES = (1..5).map { |id| "user #{id}" }.join("\n")

# wrk's latencies in milliseconds, and requests a second.
def load(port)
  output = IO.popen(["taskset", "-c", "1", "wrk", "-t1", "-c64", "-d#{SECONDS}s", "--latency", "http://127.0.0.1:#{port}/users"], &:read)
  units = {"us" => 0.001, "ms" => 1, "s" => 1000}
  percentiles = %w[50 99].map { |percent| output[/^ +#{percent}% +([\d.]+)(us|ms|s)/, 1].to_f * units.fetch($2) }
  abort output if output.match?(/Non-2xx|Socket errors/)
  [*percentiles, output[/Requests\/sec: +([\d.]+)/, 1].to_f]
end

RecordDatabases.each(ENV["ONLY"]) do |name, address|
  Pelton.run do
    database = Pelton::Record.connect(address)
    database.create_table(:users) { primary_key :id; String :username; Integer :visits, default: 0 } # standard:disable Style/Semicolon
    database[:users].import(%i[id username], (1..10_000).map { |id| [id, "user #{id}"] })
    Pelton::Record.disconnect
  end
  RecordServer.pelton("record", "DATABASE" => address, "POOL" => "20") do |server|
    abort "#{name}: a wrong page" unless Net::HTTP.get(URI("http://127.0.0.1:#{server.port}/users")) == NAMES
    load(server.port)
    rounds = Array.new(ROUNDS) { load(server.port) }
    puts format("%-10s p50 %5.1f ms  p99 %5.1f ms  p99/p50 %s (each round: %s)  %5.0f requests/s", name, *rounds.transpose.first(2).map { |of| median(of) },
      format("%.1f", median(rounds.map { |p50, p99, _| p99 / p50 })), rounds.map { |p50, p99, _| format("%.1f", p99 / p50) }.join(" "), median(rounds.map(&:last)))
  end
end
