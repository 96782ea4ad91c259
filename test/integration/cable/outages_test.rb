# frozen_string_literal: true

require_relative "../../test_helper"
require "pg"
require "redis-client"
require_relative "../../support/database_process"
require_relative "../../soak/cable"

# What connected clients miss without being told, while Redis or PostgreSQL is away, also at the start, and workers are
# killed.
class CableOutagesTest < PeltonTest
  include Databases

  self.deadline = 180

  def test_redis
    nobody_misses("redis://127.0.0.1:%d", DatabaseProcess.new("KILL") { |port| Databases.redis_command(port) })
  end

  def test_postgresql
    nobody_misses("postgres://postgres@127.0.0.1:%d/postgres",
      DatabaseProcess.new("QUIT") { |port| Databases.postgres_command(port) })
  end

  private

  def nobody_misses(url, database)
    crash = -> { database.die!.then { database.start } }
    soak = Soak::Cable.new(format(url, database.port), messages: 800, outage: 0.4, every: 0.4, crash: crash,
      pause: 0.04)

    assert soak.run, "#{soak.faults.join("\n")}\n#{soak.tally}"
    puts soak.tally if ENV["PELTON_SHOW"]
    assert_operator soak.tally[:killed], :>, 0, "workers were killed"
    assert_operator soak.tally[:outages] + soak.tally[:crashes], :>, 1, "the server was away"
  ensure
    database.die!
  end
end
