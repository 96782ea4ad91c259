# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/databases"
require "open3"
require "pelton"
require "trilogy"

# The trilogy gem waits on the scheduler: the server itself reports how many of its clients wait at once.
class MariadbTest < PeltonTest
  include Databases

  def setup = mariadb # before there is a reactor

  def test_queries_wait_at_the_same_time
    Pelton.run do
      boss = connect
      boss.query("SELECT GET_LOCK('turn', 0)")
      tasks = Array.new(10) { |i| Pelton.spawn { query("SELECT GET_LOCK('turn', 20), RELEASE_LOCK('turn'), #{i}") } }
      eventually("ten waiting queries") { waiting(boss) == 10 }
      assert_empty tasks.select(&:done?)
      boss.query("SELECT RELEASE_LOCK('turn')")

      assert_equal (0..9).map { |i| [1, 1, i] }, tasks.map(&:await)
    end
  end

  def test_the_clients_own_timeout
    Pelton.run do
      late = Pelton.spawn { query("SELECT SLEEP(5)", read_timeout: 0.05) }

      assert_raises(Trilogy::TimeoutError) { late.await }
      assert_equal [1], query("SELECT 1")
    end
  end

  private

  def connect(**options) = Trilogy.new(**mariadb_options, **options)

  def query(sql, **options)
    connection = connect(**options)
    connection.query(sql).first
  ensure
    connection&.close
  end

  def waiting(connection)
    sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"
    connection.query(sql).first.first
  end
end
