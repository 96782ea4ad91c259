# frozen_string_literal: true

require "test_helper"
require_relative "../support/lookup_behaviours"

class SQLiteLookupTest < PeltonTest
  include LookupBehaviours

  def address = @address ||= sqlite_file

  def test_the_statement_is_prepared_once
    lookup = things
    5.times { |i| lookup.find(i) }
    statements = @database.pool.hold(:read_only) { |connection| connection.instance_variable_get(:@statements) }

    assert_equal ["SELECT * FROM `things` WHERE `id` = ?"], statements.keys.grep(/things/)
  end
end
