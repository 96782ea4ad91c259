# frozen_string_literal: true

require "pg"
require "trilogy"
require "test_helper"
require_relative "../../../test/support/databases"
require_relative "../../../test/support/gem_program"

# Programs with the gems of gemfiles/telemetry.rb, in separate processes: what these gems do to others cannot be undone.
module TelemetryProgram
  include Databases
  include GemProgram

  def self.included(test) = test.deadline = 120

  GEMS = GemProgram::Gems.new("gemfiles/telemetry.rb", folder: "tmp/rails")
  PROGRAM = <<~RUBY
    require "bundler/setup"
    require "logger"
    require "net/http"
    require "active_record"
    require "pg"
    require "redis-client"
    require "trilogy"
    require "rack"
    require "rack/builder"
    require "pelton/http/launcher"

    Pelton.on_error { |error| warn(error.full_message) unless error.message == "on purpose" }

    def check(got, expected)
      got == expected || abort("\#{got.inspect} is not \#{expected.inspect}, at \#{caller.first}")
    end

    # Serves the application as `pelton serve` does, with many requests at once, again and again: /1, /2 and so on. Each
    # seventh fails.
    def serve(app, count: 100, rounds: 3)
      configuration = Pelton::HTTP::Configuration.new
      configuration.bind("tcp://127.0.0.1:0")
      configuration.quiet(true)
      failed = []
      Pelton::HTTP::Launcher.new(configuration, app: app).run do |launcher|
        $port = launcher.server.listeners.first.port
        Pelton.spawn(detached: true) do
          client = Pelton::HTTP::Client.new("http://127.0.0.1:\#{$port}", concurrency: count)
          rounds.times do
            Pelton.group do |group|
              (1..count).each { |id| group.spawn { failed << id if client.get("/\#{id}").status == 500 } }
            end
          end
          client.close
        ensure
          Process.kill("TERM", Process.pid)
        end
      end
      check(failed.tally, (1..count).select { |id| id % 7 == 0 }.to_h { |id| [id, rounds] })
    end

    # A few connections for many requests.
    class Few
      def initialize(count)
        @free = Thread::Queue.new
        count.times { @free << yield }
      end

      def with
        one = @free.pop
        yield one
      ensure
        @free << one
      end
    end

    ActiveRecord::Base.establish_connection("\#{ENV["POSTGRES"]}?pool=8&prepared_statements=false") if ENV["POSTGRES"]
    ActiveRecord::Base.connection.create_table(:entries, force: true) if ENV["POSTGRES"]
    class Entry < ActiveRecord::Base
    end

    # What a request asks for by its number, and waits for.
    def use_all(id)
      Entry.with_connection { Entry.find_by_sql("SELECT \#{id} AS id, pg_sleep(0.005)::text") }
      PGS.with { |pg| pg.exec("SELECT \#{id} AS id, pg_sleep(0.005)::text") }
      TRILOGIES.with { |trilogy| trilogy.query("SELECT \#{id} AS id, SLEEP(0.005)") }
      REDISES.with { |redis| redis.call("GET", "key\#{id}") }
      Net::HTTP.get("127.0.0.1", "/\#{id}?inner", $port)
    end

    def connect_all
      Object.const_set(:PGS, Few.new(8) { PG.connect(ENV["POSTGRES"]) })
      Object.const_set(:TRILOGIES,
        Few.new(8) do
          Trilogy.new(host: "127.0.0.1", port: ENV["MARIADB"].to_i, username: "root",
            database: "test", ssl_mode: Trilogy::SSL_DISABLED)
        end)
      Object.const_set(:REDISES,
        Few.new(8) { RedisClient.config(host: "127.0.0.1", port: ENV["REDIS"].to_i).new_client })
    end

    # Some bodies wait while they are sent. (Rack::Events has no bodies without each.)
    def body(id) = id.even? ? ["body"] : Enumerator.new { |parts| 2.times { sleep(0.001) && parts << "body" } }

    # Answers a request by its number. The block gets the number and the work, which it does within a span.
    def answer(env)
      id = env["PATH_INFO"].delete("/").to_i
      return [200, {}, ["inner"]] if env["QUERY_STRING"] == "inner"
      work = lambda do |*|
        use_all(id)
        raise "on purpose" if id % 7 == 0
      end
      yield id, work
      [200, {}, body(id)]
    end
  RUBY

  # @return [String] what the program has printed
  def telemetry_output(code, databases: true)
    needs_gems(GEMS) # before a database is started
    environment = databases ? {"POSTGRES" => "postgresql://postgres@127.0.0.1:#{postgres}/postgres",
                               "MARIADB" => mariadb.to_s, "REDIS" => redis.to_s} : {}
    program_output(GEMS, "#{PROGRAM}\n#{code}", env: environment)
  end
end
