# frozen_string_literal: true

require "logger"
require "pg"
require "stringio"
require "trilogy"
require_relative "../support/sequel_databases"

# What must be the same on PostgreSQL and MariaDB: limits and cancellations reach the server, faults end, the pool
# heals.
module ServerBehaviours
  include SequelDatabases

  def self.included(test) = test.deadline = 60

  def test_queries_of_many_fibers_share_the_pool
    database = connect(address, pool: 5)
    database.create_table!(:numbers) { Integer :n, unique: true }
    Pelton.run do
      Pelton.map((1..40).to_a, concurrency: nil) { |i| database[:numbers].insert(n: i) }
      assert_equal (1..40).sum, database[:numbers].sum(:n).to_i
    end

    assert_equal 5, database.pool.size
    assert_equal 5, database.pool.shards[:default].idle
  end

  def test_other_fibers_go_on_during_a_query
    database = connect(address)
    Pelton.run { assert_operator ticks { pause(database, 0.2) }, :>, 10 }
  end

  def test_a_limit_cancels_the_query_at_the_server
    database = connect(address)
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.1) { pause(database, 600) } }
      eventually("no query sleeps") { sleeping(database).zero? }
      eventually("the place in the pool is free") { database.pool.size == 1 }

      assert_equal 1, database.get(1)
    end
  end

  def test_cancelling_a_task_cancels_the_query_at_the_server
    database = connect(address)
    Pelton.run do
      task = Pelton.spawn { pause(database, 600) }
      eventually("it sleeps") { sleeping(database) == 1 }
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
      eventually("no query sleeps") { sleeping(database).zero? }
    end
  end

  def test_a_limit_outside_a_reactor
    database = connect(address)
    assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.1) { pause(database, 600) } }

    assert_equal 1, database.get(1)
    assert_equal 0, sleeping(database)
  end

  def test_nobody_gets_the_rows_of_an_interrupted_query
    database = connect(address, pool: 2)
    Pelton.run do
      results = Pelton.map((1..60).to_a, concurrency: nil) do |i|
        Pelton.timeout(i.odd? ? 0.005 : 20) { database.fetch("SELECT #{i} AS i, #{sleep_call(0.01)} AS x").first[:i] }
      rescue Pelton::TimeoutError
        nil
      end

      results.each_with_index { |result, i| assert_includes [i + 1, nil], result }
      assert_equal 60.times.select(&:odd?).map { |i| i + 1 }, results.compact.select(&:even?)
    end
  end

  def test_a_limit_in_a_query_rolls_the_transaction_back
    database = with_numbers
    Pelton.run do
      assert_raises(Pelton::TimeoutError) do
        Pelton.timeout(0.1) { database.transaction { database[:numbers].insert(n: 1).then { pause(database, 600) } } }
      end

      assert_equal 0, database[:numbers].count
    end
  end

  def test_cancelling_between_two_queries_rolls_the_transaction_back
    database = with_numbers
    Pelton.run do
      task = Pelton.spawn { database.transaction { database[:numbers].insert(n: 1).then { sleep } } }
      eventually("it has a transaction") { database.pool.shards[:default].in_use == 1 && task.backtrace&.any? }
      sleep 0.05
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }

      assert_equal 0, database[:numbers].count
      assert_equal 0, database.pool.shards[:default].in_use
    end
  end

  def test_queries_after_an_interrupted_one_in_the_same_transaction_are_refused
    database = with_numbers
    Pelton.run do
      assert_raises(Pelton::Sequel::ConnectionError) do
        database.transaction do
          begin
            Pelton.timeout(0.05) { pause(database, 600) }
          rescue Pelton::TimeoutError
            nil
          end
          database[:numbers].insert(n: 1)
        end
      end

      assert_equal 0, database[:numbers].count
    end
  end

  def test_savepoints_and_hooks
    database = with_numbers
    seen = []
    Pelton.run do
      database.transaction do
        database.after_commit { seen << :committed }
        database[:numbers].insert(n: 1)
        database.transaction(savepoint: true) { database[:numbers].insert(n: 2).then { raise Sequel::Rollback } }
      end
    end

    assert_equal [1], database[:numbers].select_map(:n)
    assert_equal [:committed], seen
  end

  def test_strings_in_any_encoding_and_with_any_letter
    database = connect(address)
    database.create_table!(:texts) { String :text }
    ["gr\u00fc\u00df", "it's \"so\" `x` \\", "'; DROP TABLE texts; --", "$1 ? :id"].each do |text|
      database[:texts].insert(text: text)

      assert_equal 1, database[:texts].where(text: text).count
    end
    assert_equal 4, database[:texts].count
  end

  def test_a_killed_session_is_replaced
    database = connect(address)
    Pelton.run do
      assert_raises(Sequel::DatabaseDisconnectError) do
        database.synchronize { kill_session(database) && database.get(1) }
      end

      assert_equal 1, database.get(1)
    end
  end

  def test_a_session_that_was_killed_while_it_was_idle_is_noticed_before_it_is_used
    database = connect(address)
    other = connect(address)
    Pelton.run do
      id = database.get(session_id)
      kill(other, id)
      sleep Pelton::Sequel::Pool::Shard::CHECK_AFTER + 0.1
      refute_equal id, database.get(session_id)
    end
  end

  def test_a_child_has_sessions_of_its_own_and_the_parent_keeps_its
    database = connect(address)
    id = database.get(session_id)
    reader, writer = IO.pipe
    pid = fork do
      writer.puts database.get(session_id)
      writer.close
      GC.start
      exit!(0)
    end
    writer.close
    Process.wait(pid)

    refute_equal id, Integer(reader.read)
    assert_equal id, database.get(session_id)
  end

  # The child's collector and its end must not say goodbye on the parent's socket.
  def test_a_child_that_ends_as_usual_leaves_the_parent_s_session_alone
    database = connect(address)
    id = database.get(session_id)
    pid = fork do
      at_exit { exit!(0) }
      database.get(1)
      database.disconnect
      GC.start
    end
    Process.wait(pid)

    assert_equal id, database.get(session_id)
  end

  def test_a_missing_database_and_a_server_that_is_not_there
    error = assert_raises(Pelton::Sequel::ConfigurationError) { connect(address.sub(%r{/\w+\z}, "/missing")) }
    assert_match(/no such database. Create it: pelton db create/, error.message)

    error = assert_raises(Pelton::Sequel::ConnectionError) { connect(address.sub(/:\d+/, ":#{free_port}")) }
    assert_match(/nobody answers there: check that the server runs/, error.message)
    assert_predicate error, :retriable?
  end

  def test_errors_have_sequel_s_classes
    database = with_numbers
    database[:numbers].insert(n: 1)

    Pelton.run { assert_raises(Sequel::UniqueConstraintViolation) { database[:numbers].insert(n: 1) } }
    Pelton.run { assert_raises(Sequel::DatabaseError) { database.run("SELEKT") } }
    assert_equal 1, database.pool.size
  end

  private

  def with_numbers = connect(address).tap { |database| database.create_table!(:numbers) { Integer :n, unique: true } }

  def pause(database, seconds) = database.fetch("SELECT #{sleep_call(seconds)}").all

  def eventually(what)
    500.times { yield ? (return) : sleep(0.01) }
    flunk "not in time: #{what}"
  end
end

class DatabasePostgresTest < PeltonTest
  include ServerBehaviours

  def test_what_the_server_says_beside_its_answers_is_logged
    logger, Pelton.logger = Pelton.logger, Logger.new(log = StringIO.new)
    connect(address).run("DO $$ BEGIN RAISE WARNING 'look here'; END $$")

    assert_match(/WARN.*postgres: WARNING:  look here$/, log.string)
  ensure
    Pelton.logger = logger
  end

  private

  def address = postgres_address
  def sleep_call(seconds) = "pg_sleep(#{seconds})"
  def session_id = Sequel.function(:pg_backend_pid)

  def sleeping(database)
    database.fetch("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(600)%' " \
      "AND pid <> pg_backend_pid()").single_value
  end

  def kill(database, id) = database.get(Sequel.function(:pg_terminate_backend, id))
  def kill_session(database) = connect(address).then { |other| kill(other, database.get(session_id)) }
end

class DatabaseMariaDBTest < PeltonTest
  include ServerBehaviours

  private

  def address = mariadb_address
  def sleep_call(seconds) = "sleep(#{seconds})"
  def session_id = Sequel.function(:connection_id)

  def sleeping(database)
    database.fetch(
      "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%sleep(600)%' AND id <> connection_id()"
    ).single_value
  end

  def kill(database, id) = database.run("KILL #{id}")
  def kill_session(database) = connect(address).then { |other| kill(other, database.get(session_id)) || true }
end
