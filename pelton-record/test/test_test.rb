# frozen_string_literal: true

require_relative "support/blog"
require "pelton/record/test"
require "pelton/test"

# Of Pelton::Record::Test.
class RecordTestTest < PeltonTest
  include Blog

  def connect_database = connect(sqlite_file)

  Support = Pelton::Record::Test

  def rollback(&block) = Support.rollback(&block)

  def test_a_test_is_rolled_back
    assert_equal 5, rollback { Author.create!(name: "x") && Author.insert_all([{name: "y"}]) && 5 }
    assert_equal 0, Author.count
    assert_raises(RuntimeError) { rollback { Author.create!(name: "x") && raise("no") } }
    assert_equal 0, Author.count
    Author.create!(name: "kept")
    assert_equal 1, Author.count
  end

  def test_fibers_of_the_test_share_its_connection
    rollback do
      Author.create!(name: "before")
      Pelton.run do
        assert_equal [1] * 3, Pelton.map(1..3) { Author.count }
        Pelton.map(1..3) { |number| Author.transaction { Author.create!(name: number.to_s) && sleep(0) } }
        assert_equal 4, Author.count
      ensure
        Pelton.stop
      end
      assert_equal 4, Author.count
    end
    assert_equal 0, Author.count
  end

  def test_transactions_are_savepoints_and_callbacks_run
    seen = []
    told = model(:Told) do
      self.table_name = "authors"
      after_commit { seen << name }
    end
    rollback do
      told.create!(name: "x")
      Author.transaction { told.create!(name: "y") && raise(Sequel::Rollback) }
      Author.transaction { Author.transaction(requires_new: true) { told.create!(name: "z") } }
      assert_equal [%w[x z], %w[x z]], [seen, Author.pluck(:name)]
      assert_raises(Sequel::UniqueConstraintViolation) { 2.times { Author.create!(name: "u", email: "e") } }
      assert_equal 3, Author.count
    end
    assert_equal 0, Author.count
  end

  def test_a_cancelled_query_costs_no_isolation
    long = {postgres: "SELECT pg_sleep(10)", mysql: "SELECT SLEEP(10)"}.fetch(@database.database_type) { long_statement }
    rollback do
      Pelton.run do
        assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.05) { @database.run(long) } }
        Author.create!(name: "x")
      ensure
        Pelton.stop
      end
    end
    assert_equal 0, Author.count
  end

  def test_the_pool_is_as_it_was
    before = @database.pool.shards
    rollback { assert_equal 1, @database.pool.max_size }
    assert_same before, @database.pool.shards
    assert_equal 0, @database.pool.shards[:default].in_use
  end

  def test_minitest
    ran = Class.new(Minitest::Test) do
      include Support

      define_method(:test_writes) { assert_equal 1, Author.tap { |model| model.create!(name: "x") }.count }
      const_set(:Author, Author)
    end
    self.class.const_set(:Ran, ran)
    2.times { assert ran.new("test_writes").run.passed? }
    assert_equal 0, Author.count
  ensure
    Minitest::Runnable.runnables.delete(ran)
    self.class.send(:remove_const, :Ran)
  end

  def test_without_a_database
    Pelton::Record.disconnect
    assert_includes assert_raises(Pelton::Record::Error) { rollback { flunk } }.message, "connect"
  end
end
