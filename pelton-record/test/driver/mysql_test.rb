# frozen_string_literal: true

require "test_helper"
require "pelton/record"
require "pelton/record/driver/mysql"

# What needs no server; the rest is in integration/servers_test.rb.
class MySQLDriverTest < PeltonTest
  def test_strings_are_quoted_without_a_connection
    database = Sequel.mock(host: "mysql")
    Pelton::Record::MySQLDriver.new("x").prepare(database)

    assert_equal "'it''s \\\\'", database.literal("it's \\")
  end
end
