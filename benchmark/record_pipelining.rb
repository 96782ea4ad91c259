# frozen_string_literal: true

# Would PostgreSQL's pipelining pay? Fibers ask one-row queries by prepared statements: by a pool of 5 and of 20 connections, each of which
# waits for its answer, and by one connection in libpq's pipeline mode, whose queries leave when the loop is about to wait. With 0, 1 and
# 20 ms of latency (a proxy holds each byte back for half of it). Queries a second, and CPU of this process for each.
#
#   bundle exec ruby -Ilib benchmark/record_pipelining.rb     (ROUNDS=5 FIBERS=64; needs PostgreSQL)

require_relative "support/record_databases"
require_relative "support/measuring"
require "pg"

ROUNDS = Integer(ENV.fetch("ROUNDS", "5"))
FIBERS = Integer(ENV.fetch("FIBERS", "64"))
SQL = "SELECT * FROM users WHERE id = $1"
QUERIES = {0 => 6000, 1 => 6000, 20 => 1000}.freeze # by the latency in milliseconds

def open_connection(port) = PG.connect(host: "127.0.0.1", port: port, user: "postgres", dbname: "postgres").tap { |connection| connection.prepare("find", SQL) }

# A connection for a query; fibers wait for one in the order in which they come.
class Waiting
  def initialize(port, size)
    @free = Queue.new
    size.times { @free << open_connection(port) }
  end

  def find(id)
    connection = @free.pop
    result = connection.exec_prepared("find", [id])
    result.tuple_values(0).tap { result.clear }
  ensure
    @free << connection if connection
  end
end

# The thinnest pipeline: no limits, no cancellation, no errors, and a sync behind each query, without which an error would take the others' answers.
class Pipelined
  def initialize(port)
    @connection = open_connection(port)
    @connection.enter_pipeline_mode
    @connection.setnonblocking(true)
    @asked = []
  end

  def find(id)
    @connection.send_query_prepared("find", [id])
    @connection.pipeline_sync
    operation = Pelton::Operation.new
    @asked << operation
    unless @flushing
      @flushing = true
      Pelton.spawn { flush }
    end
    @reader ||= Pelton.spawn { read }
    operation.await
  end

  private

  # Runs after the fibers that are ready.
  def flush
    @flushing = false
    @connection.flush
  end

  def read
    until @asked.empty?
      @connection.socket_io.wait_readable
      @connection.consume_input
      until @asked.empty? || @connection.is_busy
        result = @connection.sync_get_result
        next unless result&.result_status == PG::PGRES_TUPLES_OK
        values = result.tuple_values(0)
        result.clear
        @asked.shift.succeed(values)
      end
    end
  ensure
    @reader = nil
  end
end

def run(kind, count)
  next_one = 0
  wall, cpu = Pelton.run do
    wall_and_processor_time do
      Array.new(FIBERS) do
        Pelton.spawn do
          while (mine = next_one += 1) <= count
            id = 1 + mine % 1000
            kind.find(id).first(2) == [id.to_s, "user #{id}"] or abort "a wrong row"
          end
        end
      end.each(&:await)
    end
  end
  [count / wall, cpu * 1e6 / count]
end

RecordDatabases.each("postgres") do |_, address|
  port = Integer(address[/:(\d+)/, 1])
  PG.connect(host: "127.0.0.1", port: port, user: "postgres", dbname: "postgres") do |connection|
    connection.exec("CREATE TABLE users (id serial PRIMARY KEY, username text, visits int)")
    connection.exec("INSERT INTO users (username) SELECT 'user ' || i FROM generate_series(1, 1000) AS i")
  end
  QUERIES.each do |latency, count|
    processes = Pelton::Lab::Processes.new
    proxied = latency.zero? ? port : processes.serve_ruby("latency_proxy.rb", "--to", "127.0.0.1:#{port}", "--delay", (latency / 2000.0).to_s).last
    kinds = Pelton.run { {"a pool of 5" => Waiting.new(proxied, 5), "a pool of 20" => Waiting.new(proxied, 20), "a pipeline" => Pipelined.new(proxied)} }
    kinds.each_value { |kind| run(kind, 500) }
    rounds = Array.new(ROUNDS) { kinds.transform_values { |kind| run(kind, count) } }
    kinds.each_key do |name|
      rate, cpu = rounds.map { |round| round[name] }.transpose.map { |of| median(of) }
      puts format("%2d ms, %-13s %7.0f queries/s, CPU %5.1f us", latency, name, rate, cpu)
    end
  ensure
    processes&.stop_all
  end
end
