# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/waiting_clients"
require_relative "../support/databases"
require "pelton"
require "pg"

# The pg gem.
class PostgresTest < PeltonTest
  include Databases
  include WaitingClients

  def setup = postgres # before there is a reactor

  def test_a_large_result_and_a_large_parameter
    text = "x" * 3_000_000
    Pelton.run do
      tasks = Array.new(3) do |i|
        Pelton.spawn { connect.exec_params("SELECT $1::text || $2", [text, i.to_s]).getvalue(0, 0) }
      end

      assert_equal %W[#{text}0 #{text}1 #{text}2], tasks.map(&:await)
    end
  end

  def test_notifications_come_from_another_task
    Pelton.run do
      listener = connect
      listener.exec("LISTEN news")
      Pelton.spawn { connect.exec("NOTIFY news, 'hello'") }

      assert_equal "hello", [].tap { |got| listener.wait_for_notify { |_, _, payload| got << payload } }.first
    end
  end

  def test_a_query_ends_when_its_time_is_over_and_others_go_on
    Pelton.run do
      boss = connect
      boss.exec("SELECT pg_advisory_lock(2)")
      late = Pelton.spawn { Timeout.timeout(0.05) { query("SELECT pg_advisory_lock(2)") } }

      assert_raises(Timeout::Error) { late.await }
      assert_equal "1", boss.exec("SELECT 1").getvalue(0, 0)
      boss.close # the server process of the timed-out query still waits for this lock
    end
  end

  private

  def connect = PG.connect(**postgres_options)

  def query(sql)
    connection = connect
    connection.exec(sql).first
  ensure
    connection&.close
  end

  def hold(connection) = connection.exec("SELECT pg_advisory_lock(1)")

  def wait_for(number) = query("SELECT pg_advisory_lock_shared(1), #{number} AS number")["number"].to_i

  def let_go(connection) = connection.exec("SELECT pg_advisory_unlock(1)")

  def waiting(connection)
    sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%lock_shared(1)%'"
    connection.exec(sql).getvalue(0, 0).to_i
  end
end
