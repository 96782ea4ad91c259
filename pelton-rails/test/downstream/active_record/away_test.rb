# frozen_string_literal: true

require "shellwords"
require_relative "../../support/active_record_program"

# A database that is away when a program starts, comes, goes in the middle of queries, and comes back.
class ActiveRecordAwayTest < PeltonTest
  include ActiveRecordProgram

  PROGRAM = <<~'RUBY'
    PORT, *COMMAND = ARGV
    ActiveRecord::Base.establish_connection(
      "postgresql://postgres@127.0.0.1:#{PORT}/postgres?pool=5&checkout_timeout=10"
    )

    def start
      $database = Process.spawn(*COMMAND, chdir: "/", in: File::NULL, out: File::NULL, err: File::NULL)
    end

    def stop
      Process.kill("QUIT", $database)
      Process.wait($database)
    end

    def answer(sql = "SELECT 1")
      ActiveRecord::Base.with_connection { |connection| connection.select_value(sql) }
    rescue ActiveRecord::ActiveRecordError => error
      error.class
    end

    def twenty = Array.new(20) { Pelton.spawn { answer } }.map(&:await).uniq

    def await_database = (sleep 0.05 until answer == 1)

    at_exit { Process.kill("KILL", $database) rescue nil }
    Pelton.run do
      p away: twenty
      start
      await_database
      p there: twenty
      slow = Array.new(5) { Pelton.spawn { answer("SELECT pg_sleep(600)") } }
      sleep 0.05 until ActiveRecord::Base.connection_pool.stat[:busy] == 5
      stop
      p gone: slow.map(&:await).uniq.map { |error| error <= ActiveRecord::StatementInvalid }
      p away: twenty
      start
      await_database
      p back: twenty
      p ActiveRecord::Base.connection_pool.stat.slice(:busy, :waiting)
    end
  RUBY

  def test_each_query_gets_an_error_and_the_program_goes_on
    needs_servers
    port = Servers.free_port
    output = active_record_output(PROGRAM, :sqlite, port.to_s, *Databases.postgres_command(port), deadline: 100)

    away = "{:away=>[ActiveRecord::ConnectionNotEstablished]}"
    assert_equal [away, "{:there=>[1]}", "{:gone=>[true]}", away, "{:back=>[1]}", "{:busy=>0, :waiting=>0}"],
      output.lines(chomp: true).map { |line| line.gsub(/(\w+): /, ':\1=>').gsub(" => ", "=>") }
  end
end
