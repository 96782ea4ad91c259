# frozen_string_literal: true

# 1,000 finds at once: by a fiber each with Pelton::Record, which merges them, and by 100 threads with Sequel::Model alone, in
# processes of their own. Target: 20 queries at most, and three times the finds a second.
#
#   bundle exec ruby -Ilib -Ipelton-record/lib benchmark/record_finds.rb [sqlite|postgres|mariadb ...]

require "minitest" # the tests' databases
require "pg"
require "trilogy"
require "pelton/record"
require_relative "../pelton-record/test/support/own_server"
require_relative "../test/support/guard"
require_relative "support/measuring"

FINDS = 1_000
THREADS = 100
ROWS = 10_000
TIMES = 20 # in a round, after one that is not counted
ROUNDS = 5

def fill(address)
  in_child do
    Pelton::Record.connect(address)
    database = Pelton::Record.database
    database.create_table(:users) { primary_key(:id).then { String :username }.then { Integer :visits } }
    (1..ROWS).each_slice(1000) { |ids| database[:users].import(%i[id username visits], ids.map { |id| [id, "user #{id}", 0] }) }
    Pelton::Record.disconnect
  end
end

def check(id, name) = name == "user #{id}" || abort("the wrong row")

# @return [Array(Float, Float, Integer)] seconds and CPU seconds of FINDS finds, and their queries
def timed(queries)
  yield
  before = queries.call
  times = wall_and_processor_time { TIMES.times { yield } }
  [*times.map { |seconds| seconds / TIMES }, (queries.call - before) / TIMES]
end

def record(address)
  in_child do
    Pelton::Record.connect(address, pool: 20, timeout: 30)
    model = Class.new(Pelton::Record::Model) { self.table_name = "users" }
    Pelton.run do
      timed(-> { Pelton::Record.stats[:queries] }) do
        Array.new(FINDS) { rand(1..ROWS).then { |id| Pelton.spawn { check(id, model.find(id).username) } } }.each(&:await)
      end
    end
  end
end

def sequel(address)
  in_child do
    database = Sequel.connect(address.sub("sqlite:", "extralite:").sub("mysql:", "trilogy:"), max_connections: THREADS, pool_timeout: 30)
    %w[journal_mode=WAL synchronous=NORMAL].each { |pragma| database.run("PRAGMA #{pragma}") } if database.database_type == :sqlite
    model = Class.new(Sequel::Model(database[:users]))
    work = Queue.new
    done = Queue.new
    THREADS.times { Thread.new { loop { work.pop.then { |id| check(id, model.with_pk!(id).username) }.then { done << true } } } }
    timed(-> { 0 }) do
      FINDS.times { work << rand(1..ROWS) }
      FINDS.times { done.pop }
    end
  end
end

Guard.start
kinds = ARGV.empty? ? %w[sqlite postgres mariadb] : ARGV
kinds.each do |kind|
  Dir.mktmpdir("pelton-benchmark-") do |folder|
    FileUtils.chown(OwnServer.user(kind.to_sym), nil, folder) if kind != "sqlite" && Process.uid.zero?
    server = OwnServer.new(kind.to_sym, folder: folder, max_connections: 150) unless kind == "sqlite"
    address = server&.address || "sqlite://#{folder}/finds.db"
    fill(address)
    ours, theirs = Array.new(ROUNDS) { [record(address), sequel(address)] }.transpose
    speeds = [ours, theirs].map { |rounds| FINDS / median(rounds.map(&:first)) }
    processor = [ours, theirs].map { |rounds| median(rounds.map { |round| round[1] }) / FINDS * 1e6 }
    puts format("%-9s Record %7.0f finds/s, %4.0f us of CPU each, %d queries; Sequel, %d threads %6.0f finds/s, %4.0f us; ratio %.1f, of CPU %.2f", kind,
      speeds[0], processor[0], ours.map(&:last).max, THREADS, speeds[1], processor[1], speeds[0] / speeds[1], processor[0] / processor[1])
  ensure
    server&.stop
  end
end
