# frozen_string_literal: true

require_relative "support/sequel_databases"

class StatisticsTest < PeltonTest
  include SequelDatabases

  def test_queries_and_errors_are_counted
    database = connect.tap { |one| one.get(1) } # it asks for SQLite's version first
    before = stats[:queries]
    database.get(1)
    assert_raises(Sequel::DatabaseError) { database.run("SELEKT") }

    assert_equal [before + 2, 1, 0], stats.values_at(:queries, :errors, :merged)
    assert_operator stats[:query_time], :>, 0
  end

  def test_the_pool_and_who_holds_connections
    database = connect
    database.synchronize do
      assert_equal [1, 1, 1, 0, 0], stats[:pool].values_at(:size, :max, :in_use, :idle, :waiting)
      assert_match(/\Afiber \d+ for \d+\.\d+ s, at .*statistics_test.rb:\d+/, stats[:held].first)
    end

    assert_equal [0, 1, 0], stats[:pool].values_at(:in_use, :idle, :timeouts)
    assert_empty stats[:held]
  end

  def test_readers_and_the_writer_apart
    connect(sqlite_file, pool: 3)

    assert_equal({default: 1, read_only: 3}, stats[:pool][:servers].transform_values { |one| one[:max] })
    assert_equal 4, stats[:pool][:max]
  end

  def test_each_query_is_an_event
    database = connect.tap { |one| one.get(1) }
    seen = []
    listen { |event| seen << [event.payload, event.duration.class, event.error.class] }
    database.get(1)
    assert_raises(Sequel::DatabaseError) { database.run("SELEKT") }

    assert_equal [
      [{database: database, sql: "SELECT 1 AS 'v' LIMIT 1"}, Float, NilClass],
      [{database: database, sql: "SELEKT"}, Float, Extralite::SQLError]
    ], seen
  end

  def test_an_error_of_a_subscriber_changes_nothing
    errors = []
    Pelton.on_error { |error| errors << error.message }
    database = connect.tap { |one| one.get(1) }
    listen { raise "in the block" }

    assert_equal 1, Pelton.run { database.get(1) }
    assert_equal ["in the block"], errors
  ensure
    Pelton.on_error
  end

  def test_a_cancelled_query_is_an_error
    database = connect(sqlite_file)
    seen = []
    listen { |event| seen << event.error.class }
    Pelton.run do
      database.get(1) # the connection is made: what is cancelled below is the query
      query = Pelton.spawn do
        database.get(
          Sequel.lit("(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n)")
        )
      end
      eventually { stats[:pool][:in_use] == 1 }
      query.cancel
    end

    assert_equal Pelton::Cancelled, seen.last
    assert_equal 1, stats[:errors]
  end

  private

  def listen(&block) = @subscription = Pelton::Notifications.subscribe("query.sequel", &block)

  def teardown
    Pelton::Notifications.unsubscribe(@subscription)
    super
  end

  def stats = @connected.last.stats
end
