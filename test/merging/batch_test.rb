# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/merging"

# What those who share a query get when it fails, or when some of them are cancelled.
class MergingBatchTest < PeltonTest
  class Away < StandardError
  end

  class Batch < Pelton::Merging::Batch
    def initialize(key, &query)
      super("Model", key)
      @query = query
    end

    private

    def rows(keys) = @query.call(keys)

    def answer(key, rows) = rows ? [rows[key], callers(key)] : "alone"

    def unavailable = [Away]
  end

  # What each finds, or the class of its error.
  def shared(*keys, &query)
    Pelton.run do
      first, *others = keys
      batch = Batch.new(first, &query)
      tasks = others.map { |key| Pelton.spawn { outcome { batch.join(key) } } }
      Pelton::Reactor.current.yield
      batch.start
      [outcome { batch.wait(first) }, *tasks.map(&:await)]
    end
  end

  def outcome
    yield
  rescue => error
    error.class
  end

  def test_each_gets_its_row_and_knows_how_many_have_its_key
    assert_equal [["1", 2], ["2", 1], ["1", 2]], shared(1, 2, 1) { |keys| keys.to_h { |key| [key, key.to_s] } }
  end

  def test_after_an_error_of_the_query_each_asks_alone
    assert_equal %w[alone alone], shared(1, 2) { raise ArgumentError }
  end

  def test_where_the_database_is_away_each_gets_the_error
    assert_equal [Away, Away], shared(1, 2) { raise Away }
    assert_equal [Pelton::ConnectionError, Pelton::ConnectionError], shared(1, 2) { raise Pelton::ConnectionError }
  end

  def test_one_that_is_cancelled_leaves_the_query_to_the_others
    Pelton.run do
      gate = Pelton::Operation.new
      batch = Batch.new(1) { gate.await }
      other = Pelton.spawn { batch.join(2) }
      Pelton::Reactor.current.yield
      batch.start
      first = Pelton.spawn { batch.wait(1) }
      2.times { Pelton::Reactor.current.yield }
      first.cancel
      2.times { Pelton::Reactor.current.yield }
      gate.succeed({2 => "two"})

      assert_equal ["two", 1], other.await
    end
  end

  def test_the_query_ends_with_the_last_that_is_cancelled
    ended = false
    Pelton.run do
      batch = Batch.new(1) do
        sleep
      ensure
        ended = true
      end
      others = [2, 3].map { |key| Pelton.spawn { batch.join(key) } }
      Pelton::Reactor.current.yield
      batch.start
      first = Pelton.spawn { batch.wait(1) }
      2.times { Pelton::Reactor.current.yield }
      [first, *others].each(&:cancel)
      3.times { Pelton::Reactor.current.yield }

      assert ended
    end
  end
end
