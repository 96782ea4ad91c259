# frozen_string_literal: true

# The memory of Pelton::Record: 100,000 rows one after the other, the same rows streamed to an HTTP client, and 1,000 requests that
# wait in a query, or for one of the 40 connections. Each figure is of a process of its own, which begins as a program does.
#
#   bundle exec ruby -Ilib -Ipelton-record/lib benchmark/record_memory.rb [sqlite|postgres|mariadb ...]

ROWS = 100_000
REQUESTS = 1_000
POOL = 40
WAIT = 0.2 # seconds of a query
SLEEP = {"postgres" => "SELECT pg_sleep(#{WAIT})", "mariadb" => "SELECT sleep(#{WAIT})"}.freeze

def connect(address)
  Pelton::Record.connect(address, pool: POOL, timeout: 60)
  Object.const_set(:Person, Class.new(Pelton::Record::Model) { self.table_name = "people" })
end

# The program that is measured. It prints the port of its server; then it walks over all rows for each line of its standard input.
def serve(address)
  require "pelton/http"
  require "pelton/record"
  connect(address)
  pages = {
    "/rows" => -> { Enumerator.new { |lines| Person.find_each { |person| lines << "#{person.id},#{person.name},#{person.mail}\n" } } },
    "/warm" => -> { Person.limit(2000).map(&:name) },
    "/wait" => -> { [Pelton::Record.database.fetch(ENV.fetch("SLEEP")).all.size.to_s] }
  }
  Pelton.run do
    puts Pelton::HTTP::Server.new(->(env) { [200, {}, pages.fetch(env["PATH_INFO"]).call] }).listen("tcp://127.0.0.1:0").port
    $stdout.flush
    Person.limit(2000).find_each(&:name) # code and caches
    while $stdin.gets
      Person.find_each(&:name)
      puts
      $stdout.flush
    end
  end
end

if ARGV.first == "serve"
  serve(ARGV.last)
  exit
end

require "pg"
require "rbconfig"
require "socket"
require "trilogy"
require "pelton/record"
require_relative "../pelton-record/test/support/own_server"
require_relative "../test/support/guard"
require_relative "support/measuring"

def kilobytes(pid, field) = Integer(File.read("/proc/#{pid}/status")[/#{field}:\s+(\d+)/, 1])

# @return [Array<Float>] MB before the block, and by how many the process has grown at most
def growth(pid)
  before = kilobytes(pid, "VmRSS")
  File.write("/proc/#{pid}/clear_refs", "5") # the peak is counted from now on
  yield
  [before, kilobytes(pid, "VmHWM") - before].map { |number| number / 1024.0 }
end

def fill(address)
  in_child do
    connect(address)
    database = Pelton::Record.database
    database.create_table(:people) { primary_key(:id).then { String :name }.then { String :mail }.then { Integer :age } }
    (1..ROWS).each_slice(1000) { |ids| database[:people].import(%i[name mail age], ids.map { |id| ["person #{id}", "person#{id}@example.com", id % 100] }) }
    Pelton::Record.disconnect
  end
end

# Yields the measured program and its port.
def serving(address, kind)
  IO.popen({"SLEEP" => SLEEP[kind]}, [RbConfig.ruby, *$LOAD_PATH.grep(/pelton|lib\z/).flat_map { |path| ["-I", path] }, __FILE__, "serve", address], "r+") do |program|
    Guard.kill_at_end(program.pid)
    port = Integer(program.gets)
    2.times { get(port, "/warm") }
    yield program, port
  ensure
    Process.kill(:KILL, program.pid)
  end
end

def open_request(port, path)
  Socket.tcp("127.0.0.1", port).tap { |socket| socket.write("GET #{path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n") }
end

def get(port, path) = open_request(port, path).read.tap { |answer| answer.start_with?("HTTP/1.1 200") or abort "#{path}: #{answer[0, 300]}" }

MEASUREMENTS = {
  "#{ROWS} rows by find_each" => ->(program, _) { program.puts.then { program.gets } },
  "the same, streamed to a client" => ->(_, port) { get(port, "/rows").scan("@example.com").size == ROWS or abort "not all rows" },
  "#{REQUESTS} requests in a query of #{WAIT} s" => lambda do |_, port|
    sockets = Array.new(REQUESTS) { open_request(port, "/wait") }
    sockets.count { |socket| socket.read.start_with?("HTTP/1.1 200") } == REQUESTS or abort "not all were answered"
  end
}.freeze

Guard.start
kinds = ARGV.empty? ? %w[sqlite postgres mariadb] : ARGV
kinds.each do |kind|
  Dir.mktmpdir("pelton-benchmark-") do |folder|
    FileUtils.chown(OwnServer.user(kind.to_sym), nil, folder) if kind != "sqlite" && Process.uid.zero?
    server = OwnServer.new(kind.to_sym, folder: folder) unless kind == "sqlite"
    address = server&.address || "sqlite://#{folder}/people.db"
    fill(address)
    puts kind
    MEASUREMENTS.each do |what, work|
      next if what.include?("query") && !SLEEP[kind]
      before, grown = serving(address, kind) { |program, port| growth(program.pid) { work.call(program, port) } }
      met = what.include?("query") ? before + grown <= 80 : grown <= 20
      puts format("  %-36s %5.1f MB at first, %5.1f MB at most, grown by %4.1f: %s", what, before, before + grown, grown, met ? "met" : "missed")
    end
  ensure
    server&.stop
  end
end
