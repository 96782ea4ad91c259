# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"
require "pelton/sequel/driver/postgres"

# What needs no server; the rest is in integration/servers_test.rb.
class PostgresDriverTest < PeltonTest
  def test_strings_are_quoted_without_a_connection
    database = Sequel.mock(host: "postgres", prepared: false, keep_reference: false)
    Pelton::Sequel::PostgresDriver.new("x").prepare(database)

    assert_equal "'it''s'", database.literal("it's")
  end
end
