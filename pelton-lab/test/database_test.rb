# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "pelton/lab/database"
require "pelton/lab/run"

# The servers are started by test/integration/lab_applications_test.rb.
class LabDatabaseTest < PeltonTest
  Database = Pelton::Lab::Database

  def setup
    @run = Pelton::Lab::Run.new(size: 1, port: 4321)
  end

  def test_its_address_for_each_library
    addresses = Database::ALL.transform_values do |database|
      %i[sequel rails].map { |library| database.address(@run, library, "/f") }.uniq
    end

    assert_equal ["sqlite:///f/app.db", "sqlite3:/f/app.db"], addresses["SQLite"]
    assert_equal ["postgres://postgres@127.0.0.1:4321/postgres", "postgresql://postgres@127.0.0.1:4321/postgres"],
      addresses["PostgreSQL"]
    assert_equal ["trilogy://root@127.0.0.1:4321/test"], addresses["MariaDB"]
  end

  def test_only_a_server_waits
    assert_equal({"SQLite" => false, "PostgreSQL" => true, "MariaDB" => true}, Database::ALL.transform_values(&:waits?))
    assert_nil Database::ALL["SQLite"].slow_query("users")
    assert_equal "SELECT users.* FROM users, (SELECT SLEEP(0.02) AS waited) AS w LIMIT 5",
      Database::ALL["MariaDB"].slow_query("users")
  end

  def test_sqlite_is_a_file_of_the_contender
    assert_match(/SQLite/, Database::ALL["SQLite"].start(nil, nil).version)
    Dir.mktmpdir do |folder|
      Database::ALL["SQLite"].open(@run, folder) { |sequel| sequel.create_table(:users) { primary_key :id } }

      assert_equal 0, Database::ALL["SQLite"].open(@run, folder) { |sequel| sequel[:users].count }
      assert_path_exists "#{folder}/app.db"
    end
  end
end
