# frozen_string_literal: true

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

  class Figure < Pelton::Record::Model
    self.database_name = :reports
  end

  def test_two_databases_at_once
    first, second = connect, connect(sqlite_file, name: :reports)
    second.create_table(:figures) { primary_key :id }

    assert_equal [first, second, [first, second]], [Pelton::Record.database, Pelton::Record.database(:reports), Pelton::Record.databases]
    assert_equal [1, second, Class.new(Figure).db], [Figure.create!.id, Figure.db, second]
    Pelton::Record.disconnect
    assert_match(/name: :reports/, assert_raises(Pelton::Record::Error) { Figure.count }.message)
  end

  def test_a_second_one_without_a_name_is_refused
    first = connect
    error = assert_raises(Pelton::Record::ConfigurationError) { Pelton::Record.connect(sqlite_file) }

    assert_match(/\Asqlite::memory: is connected already: .*name: :other/, error.message)
    assert_same first, Pelton::Record.connect("sqlite::memory:")
    connect(sqlite_file, name: :reports)
    assert_raises(Pelton::Record::ConfigurationError) { Pelton::Record.connect("sqlite::memory:", name: :reports) }
  end
end
