# frozen_string_literal: true

require_relative "support/sequel_databases"

class DatabaseRoutingTest < PeltonTest
  include SequelDatabases

  READS = ["SELECT 1", "select * from a where b = 'x'", "(SELECT 1) UNION (SELECT 2)",
    "WITH a AS (SELECT 1) SELECT * FROM a", "SHOW TABLES", "EXPLAIN SELECT 1", "VALUES (1)",
    "SELECT updated_at, inserted, forupdate FROM deletions", (+"SELECT \xff").force_encoding("UTF-8")].freeze
  WRITES = ["INSERT INTO a VALUES (1) RETURNING *", " \n UPDATE a SET b = 1", "DELETE FROM a", "MERGE INTO a",
    "CALL f()", "SET a = 1", "DO $$ $$", "SELECT * INTO b FROM a", "SELECT 1 FOR UPDATE",
    "SELECT 1 FOR NO KEY UPDATE", "SELECT 1 FOR SHARE", "SELECT 1 LOCK IN SHARE MODE", "SELECT nextval('a')",
    "SELECT pg_advisory_xact_lock(1)", "SELECT pg_try_advisory_lock(1)", "SELECT GET_LOCK('a', 1)",
    "SELECT LAST_INSERT_ID()", "WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a",
    "EXPLAIN ANALYZE DELETE FROM a", "BEGIN", "NOTIFY a"].freeze

  def test_what_reads_and_what_may_write
    assert_empty READS.reject { |sql| Pelton::Sequel::Routing.reads?(sql) }
    assert_empty WRITES.select { |sql| Pelton::Sequel::Routing.reads?(sql) }
  end

  # A function of SQLite's writes nothing, and a long list of values is not looked through.
  def test_what_is_not_looked_through
    assert Pelton::Sequel::Routing.reads?("SELECT nextval(1)", functions: false)
    refute Pelton::Sequel::Routing.reads?("WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a", functions: false)
    assert Pelton::Sequel::Routing.reads?("SELECT * FROM a WHERE b IN (#{"1, " * 1000} 'insert')", whole: false)
  end

  def test_sqlite_s_one_writer_gets_what_writes_and_gives_rows
    database = connect(sqlite_file)
    database.create_table(:logs) { primary_key :id }
    servers = []
    database.pool.singleton_class.prepend(
      Module.new { define_method(:hold) { |server = :default, &block| servers << server && super(server, &block) } }
    )
    database["INSERT INTO logs (id) VALUES (1) RETURNING id"].all
    assert_equal [:default], servers.uniq
    servers.clear
    database[:logs].all

    assert_equal [:read_only], servers.uniq
  end
end
