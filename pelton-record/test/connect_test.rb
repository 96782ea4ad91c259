# frozen_string_literal: true

require "test_helper"
require_relative "support/record_databases"

class ConnectTest < PeltonTest
  include RecordDatabases

  def test_the_database_is_the_models_and_is_gone_after_disconnecting
    database = connect

    assert_same database, Pelton::Record.database
    assert_includes Pelton::Record.databases, database
    Pelton::Record.disconnect
    assert_nil Pelton::Record.database
    assert_empty Pelton::Record.databases
  end

  # A class of Sequel's own, beside those of Record.
  def test_a_plain_model_of_sequel_has_the_database
    first = connect
    first.create_table(:things) { primary_key :id }
    thing = Class.new(Sequel::Model) { set_dataset(:things) }

    assert_equal [first, 1], [thing.db, thing.create.id]
    Pelton::Record.disconnect
    refute_includes Sequel::DATABASES, first
    assert_raises(Sequel::Error) { Sequel::Model.db }
    assert_equal connect, Sequel::Model.db
  end
end
