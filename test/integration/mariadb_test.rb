# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/waiting_clients"
require_relative "../support/databases"
require "pelton"
require "trilogy"

# The trilogy gem.
class MariadbTest < PeltonTest
  include Databases
  include WaitingClients

  def setup = mariadb # before there is a reactor

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

  def hold(connection) = connection.query("SELECT GET_LOCK('turn', 0)")

  def wait_for(number) = query("SELECT GET_LOCK('turn', 20), RELEASE_LOCK('turn'), #{number}").last

  def let_go(connection) = connection.query("SELECT RELEASE_LOCK('turn')")

  def waiting(connection)
    sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"
    connection.query(sql).first.first
  end
end
