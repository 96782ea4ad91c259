# frozen_string_literal: true

require "pg"
require "test_helper"
require "trilogy"
require_relative "../support/own_server"
require_relative "../support/sequel_databases"

# A database that freezes, dies, or comes back: callers get an error in time, the pool heals, and nothing that was
# committed is lost.
module FaultBehaviours
  include SequelDatabases

  def self.included(test) = test.deadline = 90

  def setup
    @server = OwnServer.new(kind)
    @database = connect(@server.address, pool: 4, timeout: 0.5)
    @database.create_table(:numbers) { Integer :n, unique: true }
  end

  def teardown
    @server&.thaw
    super
    @server&.stop
  end

  def test_a_frozen_server
    Pelton.run do
      Pelton.map([1, 2, 3, 4], concurrency: nil) { |n| @database[:numbers].insert(n: n) }
      @server.freeze_it
      errors = Pelton.map((5..20).to_a, concurrency: nil) { |n| Pelton.timeout(0.2) { @database[:numbers].insert(n: n) } && nil rescue $! } # standard:disable Style/RescueModifier
      assert_equal [Pelton::TimeoutError], errors.map(&:class).uniq
      # All places are taken by queries that are being cancelled, or by new connections
      error = assert_raises(Pelton::ConnectionError, Pelton::TimeoutError) { @database.get(1) }
      assert_predicate error, :retriable?
      @server.thaw
      until_it_answers

      assert_equal (1..4).to_a, @database[:numbers].where(n: 1..4).select_order_map(:n)
      assert_equal 0, @database.pool.shards[:default].in_use
    end
  end

  # Nobody answers its ROLLBACK, and it still gets its own error.
  def test_a_transaction_that_is_left_while_the_server_is_frozen
    Pelton.run do
      leave = lambda do |entered|
        @database.transaction { @database[:numbers].insert(n: 1).then { entered.succeed }.then { sleep } }
      end
      entered = Array.new(2) { Pelton::Operation.new }
      cancelled = Pelton.spawn { leave.call(entered[0]) }
      limited = Pelton.spawn do
        Pelton.timeout(0.2) do
          @database.transaction { entered[1].succeed.then { @database[:numbers].get(1) }.then { sleep } }
        end
      end
      entered.each(&:await)
      sleep 0.05
      @server.freeze_it
      cancelled.cancel
      assert_raises(Pelton::Cancelled) { cancelled.await }
      assert_raises(Pelton::TimeoutError) { limited.await }
      @server.thaw
      until_it_answers

      assert_equal 0, @database[:numbers].count
      assert_equal 0, @database.pool.shards[:default].in_use
    end
  end

  # Each insert that was acknowledged is there afterwards, and no transaction is half done.
  def test_a_killed_server_that_starts_again
    acknowledged = []
    failures = 0
    Pelton.run do
      stop = false
      writers = Array.new(6) do |writer|
        Pelton.spawn do
          (writer * 100_000).step.each do |n|
            break if stop
            @database.transaction { [n, -n - 1].each { |value| @database[:numbers].insert(n: value) } }
            acknowledged << n
          rescue Sequel::DatabaseError, Pelton::ConnectionError, Pelton::TimeoutError
            failures += 1
            sleep 0.01
          end
        end
      end
      2.times do
        sleep 0.3
        @server.kill
        sleep 0.3
        @server.start
        until_it_answers
      end
      sleep 0.2
      stop = true
      writers.each(&:await)
    end
    there = @database[:numbers].select_map(:n)

    assert_operator failures, :>, 0
    assert_operator acknowledged.size, :>, 10
    assert_empty acknowledged.flat_map { |n| [n, -n - 1] } - there
    assert_empty there.select { |n| n >= 0 }.map { |n| -n - 1 } - there
    assert_equal 0, @database.pool.shards[:default].in_use
    assert_equal 0, @database.pool.shards[:default].waiting
  end

  def test_a_server_that_is_gone_refuses_at_once_and_is_used_when_it_is_back
    @server.kill
    Pelton.run do
      assert_raises(Sequel::DatabaseDisconnectError, Pelton::Sequel::ConnectionError) { @database.get(1) }
      errors = Pelton.map((1..20).to_a, concurrency: nil) { @database.get(1) rescue $! } # standard:disable Style/RescueModifier
      assert_equal [Pelton::Sequel::ConnectionError], errors.map(&:class).uniq
    end
    @server.start
    Pelton.run { assert_equal 1, @database.get(1) }
  end

  private

  def until_it_answers
    500.times do
      return if @database.get(1) == 1
    rescue Sequel::DatabaseError, Pelton::ConnectionError, Pelton::TimeoutError
      sleep 0.02
    end
    flunk "it does not answer again"
  end
end

class DatabasePostgresFaultsTest < PeltonTest
  include FaultBehaviours

  private

  def kind = :postgres
end

class DatabaseMariaDBFaultsTest < PeltonTest
  include FaultBehaviours

  private

  def kind = :mariadb
end
