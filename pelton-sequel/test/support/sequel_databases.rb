# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require_relative "../../../test/support/databases"
require "pelton/sequel"

# Databases for tests: SQLite in a file or in memory, PostgreSQL, MariaDB.
module SequelDatabases
  include Databases

  def teardown
    @connected&.each { |database| Pelton::Sequel.disconnect(database) }
    FileUtils.rm_rf(@folder) if @folder
    super
  end

  # Connects as a program does, and disconnects when the test is over.
  def connect(address = "sqlite::memory:", **options)
    Pelton::Sequel.connect(address, **options).tap { |database| (@connected ||= []) << database }
  end

  # @return [String] the address of a new SQLite file
  def sqlite_file = "sqlite://#{@folder ||= Dir.mktmpdir("pelton-sequel-")}/test.db"

  def postgres_address(port = postgres) = "postgres://postgres@127.0.0.1:#{port}/postgres"

  def mariadb_address(port = mariadb) = "mysql://root@127.0.0.1:#{port}/test"

  # A new SQLite file with a table of numbers.
  def numbers_file = connect(sqlite_file).tap { |database| database.create_table(:numbers) { Integer :n } }

  # A table of people in a database, who have a unique address.
  def create_people(database)
    database.create_table(:people) do
      primary_key :id
      String :email, unique: true
      Integer :boss_id
    end
  end

  # The number of @database's queries while the block runs.
  def queries
    before = @database.stats[:queries]
    yield
    @database.stats[:queries] - before
  end

  # A statement of SQLite that computes for long. (A billion rows would take minutes.)
  def long_statement(rows = 1_000_000_000)
    "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT #{rows}) SELECT x " \
    "FROM c)"
  end

  # Ticks of a timer while the block runs.
  def ticks
    count = 0
    timer = Pelton.add_periodic_timer(0.001) { count += 1 }
    yield
    count
  ensure
    timer.cancel
  end
end
