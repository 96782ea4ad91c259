# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"
require "pelton/sequel/driver/postgres"

# What needs no server; the rest is in integration/servers_test.rb.
class PostgresDriverTest < PeltonTest
  # The library as far as it is asked: it may not be installed.
  module Library
    CONNECTION_OK, CONNECTION_BAD = 0, 1
    Error = Class.new(StandardError)
    Connection = Struct.new(:status) do
      def consume_input = nil
      def finished? = false
    end
  end

  def test_which_connections_are_usable
    Object.const_set(:PG, Library) unless defined?(::PG::Connection)
    driver = Pelton::Sequel::PostgresDriver.new("x")
    states = [Library::CONNECTION_OK, Library::CONNECTION_BAD]

    assert_equal [true, false], states.map { |state| driver.usable?(Library::Connection.new(state)) }
  ensure
    Object.__send__(:remove_const, :PG) if ::PG.equal?(Library)
  end

  def test_strings_are_quoted_without_a_connection
    database = Sequel.mock(host: "postgres", prepared: false, keep_reference: false)
    Pelton::Sequel::PostgresDriver.new("x").prepare(database)

    assert_equal "'it''s'", database.literal("it's")
  end
end
