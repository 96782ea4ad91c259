# frozen_string_literal: true

require_relative "support/sequel_databases"

# Transactions, and what happens around each query; on servers in integration/servers_test.rb.
class QueriesTest < PeltonTest
  include SequelDatabases

  def setup
    @database = numbers_file
  end

  def test_cancelling_rolls_a_transaction_back
    Pelton.run do
      task = Pelton.spawn { @database.transaction { @database[:numbers].insert(n: 1).then { sleep } } }
      sleep 0.01
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_equal 0, @database[:numbers].count
    assert_equal 0, @database.pool.shards[:default].in_use
  end

  def test_a_limit_rolls_a_transaction_back
    Pelton.run do
      assert_raises(Pelton::TimeoutError) do
        Pelton.timeout(0.01) { @database.transaction { @database[:numbers].insert(n: 1).then { sleep } } }
      end
    end

    assert_equal 0, @database[:numbers].count
  end

  # The end of a run cancels what waits.
  def test_the_end_of_the_run_rolls_a_transaction_back
    Pelton.run do
      Pelton.spawn { @database.transaction { @database[:numbers].insert(n: 1).then { sleep } } }
      sleep 0.01
      Pelton.stop
    end

    assert_equal 0, @database[:numbers].count
    assert_equal 0, @database.pool.shards[:default].in_use
  end

  def test_a_transaction_belongs_to_its_fiber
    Pelton.run do
      @database.transaction do
        @database[:numbers].insert(n: 1)
        assert_equal 0, Pelton.spawn { @database[:numbers].count }.await
        assert_equal 1, @database[:numbers].count
      end
    end
  end

  def test_loggers_see_queries
    log = StringIO.new
    require "logger"
    @database.loggers << Logger.new(log)
    @database[:numbers].where(n: 1).all

    assert_match(/SELECT \* FROM `numbers` WHERE \(`n` = 1\)/, log.string)
  end

  # As Sequel's own specs ask it: outside of the block that has held the connection, and after a disconnect.
  def test_a_connection_that_lies_in_the_pool_may_be_checked
    database = connect
    connection = database.synchronize { |one| one }

    assert database.valid_connection?(connection)
    assert database.synchronize { |one| database.valid_connection?(one) }
    assert_equal [0, 1],
      [:default].flat_map { |name| database.pool.shards[name].then { |shard| [shard.in_use, shard.idle] } }
    Pelton.run do
      ready = Pelton::Operation.new
      holder = Pelton.spawn { database.synchronize { ready.await } }
      Pelton.spawn { nil }.await
      assert_raises(Pelton::Sequel::SharedConnectionError) { database.valid_connection?(connection) }
      ready.succeed
      holder.await
    end
    database.disconnect
    refute database.valid_connection?(connection)
  end
end
