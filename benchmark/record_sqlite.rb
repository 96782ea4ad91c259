# frozen_string_literal: true

# SQLite beside the loop, in two parts.
#
# Posts: 50 connections, each request inserts a row (WAL, synchronous=normal): models of Pelton::Record under `pelton serve`, beside
# Roda with Sequel and Rails on Puma (5 threads). Requests a second and p99, in rounds that alternate. Each answered post must be in the table.
#
# Waits: hello from one `pelton serve`, asked again and again, while the same process runs a SQLite statement of two seconds, and while it
# waits one second for the lock that another process holds. The longest answer, beside the longest one of a time in which nothing else is
# done, and the CPU time of the process by which a timer of 1 ms was late at most: there other programs on the machine do not count.
#
#   bin/setup lab; BUNDLE_GEMFILE=gemfiles/peers.rb bundle exec ruby -Ilib benchmark/record_sqlite.rb     (ROUNDS=5 SECONDS=3 ONLY=posts; needs wrk, puma, rails, roda, sqlite3)

require_relative "support/record_databases"
require_relative "support/record_server"
require_relative "support/measuring"

ROUNDS = Integer(ENV.fetch("ROUNDS", "5"))
SECONDS = Integer(ENV.fetch("SECONDS", "3"))
FOLDER = RecordDatabases.folder

PELTON = <<~RACKUP
  require "pelton/record"
  Pelton::Record.connect("sqlite://\#{ENV.fetch("FILE")}")
  class Post < Pelton::Record::Model; end
  LONG = "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT \#{ENV["ROWS"]}) SELECT x FROM c)"

  # The most milliseconds of this process's CPU time that a timer of 1 ms has been late since the last call.
  def longest_turn
    clock = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond) }
    $watch ||= Pelton.spawn do
      loop do
        start = clock.call
        sleep 0.001
        $longest = [$longest, clock.call - start].max
      end
    end
    $longest.to_f.tap { $longest = 0.0 }
  end

  run lambda { |env|
    case env["PATH_INFO"]
    when "/posts" then [200, {"content-type" => "text/plain"}, [Post.create!(title: "hello", body: env["rack.input"].read).id.to_s]]
    when "/turns" then [200, {"content-type" => "text/plain"}, [longest_turn.to_s]]
    when "/long" then [200, {"content-type" => "text/plain"}, [Pelton::Record.database.fetch(LONG).single_value.to_s]]
    else [200, {"content-type" => "text/plain"}, ["hello"]]
    end
  }
RACKUP

RODA = <<~RACKUP
  require "roda"
  require "sequel"
  DB = Sequel.connect("sqlite://\#{ENV.fetch("FILE")}", max_connections: 5, timeout: 5000)
  DB.run("PRAGMA journal_mode = WAL")
  DB.run("PRAGMA synchronous = NORMAL")
  class Post < Sequel::Model; end
  class Pages < Roda
    route { |r| r.post("posts") { Post.create(title: "hello", body: request.body.read).id.to_s } }
  end
  run Pages.freeze.app
RACKUP

RAILS = <<~RACKUP
  require "action_controller/railtie"
  require "active_record/railtie"
  ENV["DATABASE_URL"] = "sqlite3:\#{ENV.fetch("FILE")}?pool=5"
  class Application < Rails::Application
    config.load_defaults Rails::VERSION::STRING.to_f
    config.eager_load = true
    config.consider_all_requests_local = false
    config.secret_key_base = "0" * 64
    config.log_level = :fatal
    config.logger = Logger.new(nil)
    config.hosts.clear
    routes.append { post "/posts", to: "main#create" }
  end
  class Post < ActiveRecord::Base; end
  class MainController < ActionController::API
    def create = render(plain: Post.create!(title: "hello", body: request.raw_post).id.to_s)
  end
  Application.initialize!
  run Rails.application
RACKUP

# A file of SQLite's with an empty table.
def database(name)
  path = "#{FOLDER}/#{name[/\w+/]}.db"
  Sequel.connect("extralite://#{path}", keep_reference: false) do |database|
    database.run("PRAGMA journal_mode = WAL")
    database.create_table(:posts) { primary_key :id; String :title; String :body } # standard:disable Style/Semicolon
  end
  path
end

def rackup(name, text) = "#{FOLDER}/#{name}.ru".tap { |path| File.write(path, text) }

# Starts the contenders that are installed, and yields {name => [server, file]}.
def serve(contenders, started = {}, &block)
  return yield(started) if contenders.empty?
  name, command = contenders.first
  file = database(name)
  RecordServer.new(command, "FILE" => file, "ROWS" => ENV["ROWS"] || "4000000").use { |server| serve(contenders.drop(1), started.merge(name => [server, file]), &block) }
end

def count(file) = Sequel.connect("extralite://#{file}", keep_reference: false) { |database| database[:posts].count }

# Requests a second, and p50 and p99 in milliseconds, of posts for some seconds.
def post(server, file)
  script = "#{FOLDER}/post.lua"
  File.write(script, "wrk.method = 'POST'\nwrk.body = string.rep('x', 100)\n")
  before = count(file)
  output = IO.popen(["taskset", "-c", "1", "wrk", "-t1", "-c50", "-d#{SECONDS}s", "--latency", "-s", script, "http://127.0.0.1:#{server.port}/posts"], &:read)
  failed = output[/Non-2xx or 3xx responses: (\d+)/, 1].to_i # Rails' adapter gives up its wait for the lock now and then
  answered = output[/(\d+) requests in/, 1].to_i - failed
  abort output if count(file) - before < answered
  units = {"us" => 0.001, "ms" => 1, "s" => 1000}
  [answered.fdiv(SECONDS), *%w[50 99].map { |percent| output[/^ +#{percent}% +([\d.]+)(us|ms|s)/, 1].to_f * units.fetch($2) }, failed]
end

def posts
  programs = Pelton::Lab::WebPrograms
  contenders = {"Record, Pelton" => programs.pelton(rackup("record", PELTON)), "Roda, Sequel, Puma" => programs.puma(rackup("roda", RODA)),
                "Rails, Puma" => programs.puma(rackup("rails", RAILS))}
  serve(contenders) do |servers|
    2.times { servers.each_value { |server, file| post(server, file) } } # the first requests are slow
    rounds = Array.new(ROUNDS) { servers.transform_values { |server, file| post(server, file) } }
    medians = servers.keys.to_h { |name| [name, rounds.map { |round| round[name] }.transpose.map { |of| median(of) }] }
    mine = medians.fetch("Record, Pelton")
    medians.each do |name, (rate, p50, p99, failed)|
      puts format("posts, %-20s %6.0f requests/s  p50 %6.1f ms  p99 %7.1f ms  %d failed   Record: %.2f times the requests/s, %.2f of the p99", name, rate, p50, p99, failed, mine[0] / rate, mine[2] / p99)
    end
  end
end

# The longest answer to hello, in milliseconds, while the block's thread runs.
def longest(server)
  work = Thread.new { yield }
  longest = 0
  Net::HTTP.start("127.0.0.1", server.port) do |http|
    until work.join(0)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
      abort "no hello" unless http.get("/").body == "hello"
      longest = [longest, Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond) - start].max
      sleep 0.001
    end
  end
  work.value
  [longest, request(server, "/turns").last.to_f]
end

# Holds the file's lock for a second, in another process.
def locked(file)
  reader, writer = IO.pipe
  pid = fork do
    reader.close
    database = Extralite::Database.new(file)
    database.execute("BEGIN IMMEDIATE")
    writer.close
    sleep 1
    database.execute("COMMIT")
    exit!(0)
  end
  writer.close
  reader.read
  yield
ensure
  Process.wait(pid)
end

def request(server, path, body = nil)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  uri = URI("http://127.0.0.1:#{server.port}#{path}")
  answer = body ? Net::HTTP.post(uri, body) : Net::HTTP.get_response(uri)
  abort "#{path}: #{answer.code}" unless answer.code == "200"
  [Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, answer.body]
end

def waits
  serve({"waits" => Pelton::Lab::WebPrograms.pelton(rackup("waits", PELTON))}) do |servers|
    server, file = servers.fetch("waits")
    request(server, "/posts", "x")
    request(server, "/turns")
    rounds = Array.new(ROUNDS) do
      long = lock = 0
      [longest(server) { sleep 2 }, longest(server) { long = request(server, "/long").first }, locked(file) { longest(server) { lock = request(server, "/posts", "x").first } }, long, lock]
    end.transpose
    {"nothing" => nil, "a long statement" => rounds[3], "a wait for the lock" => rounds[4]}.each_with_index do |(name, seconds), i|
      answers, turns = rounds[i].transpose
      puts format("hello beside %-20s longest answer: %5.1f ms (each round: %s); CPU time of a turn: %.1f ms at most%s", name, median(answers),
        answers.map { |value| format("%.1f", value) }.join(" "), turns.max, seconds ? format("; it took %.1f s", median(seconds)) : "")
    end
  end
end

waits unless ENV["ONLY"] == "posts"
posts unless ENV["ONLY"] == "waits"
