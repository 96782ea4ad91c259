# frozen_string_literal: true

require_relative "support/sequel_databases"
require "pelton/sequel/test"
require "pelton/test"

# Of Pelton::Sequel::Test.
class SequelTestTest < PeltonTest
  include SequelDatabases

  Support = Pelton::Sequel::Test

  def setup
    @database = connect(sqlite_file)
    create_people(@database)
    @people = @database[:people]
  end

  def rollback(&block) = Support.rollback(&block)

  def test_a_test_is_rolled_back
    assert_equal 5, rollback { @people.insert(email: "x") && @people.import([:email], [["y"]]) && 5 }
    assert_equal 0, @people.count
    assert_raises(RuntimeError) { rollback { @people.insert(email: "x") && raise("no") } }
    assert_equal 0, @people.count
    @people.insert(email: "kept")
    assert_equal 1, @people.count
  end

  def test_fibers_of_the_test_share_its_connection
    rollback do
      @people.insert(email: "before")
      Pelton.run do
        assert_equal [1] * 3, Pelton.map(1..3) { @people.count }
        Pelton.map(1..3) { |number| @database.transaction { @people.insert(email: number.to_s) && sleep(0) } }
        assert_equal 4, @people.count
      ensure
        Pelton.stop
      end
      assert_equal 4, @people.count
    end
    assert_equal 0, @people.count
  end

  def test_transactions_are_savepoints_and_their_hooks_run
    seen = []
    told = Class.new(Sequel::Model) do
      set_dataset(:people)
      define_method(:after_save) { db.after_commit { seen << email } }
    end
    rollback do
      told.create(email: "x")
      @database.transaction { told.create(email: "y") && raise(Sequel::Rollback) }
      @database.transaction { @database.transaction(savepoint: true) { told.create(email: "z") } }
      assert_equal %w[x z], seen
      assert_equal %w[x z], @people.select_map(:email)
      assert_raises(Sequel::UniqueConstraintViolation) { 2.times { told.create(email: "u") } }
      assert_equal 3, @people.count
    end
    assert_equal 0, @people.count
  end

  def test_a_cancelled_query_costs_no_isolation
    rollback do
      Pelton.run do
        assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.05) { @database.run(long_statement) } }
        @people.insert(email: "x")
      ensure
        Pelton.stop
      end
    end
    assert_equal 0, @people.count
  end

  def test_the_pool_is_as_it_was
    before = @database.pool.shards
    rollback { assert_equal 1, @database.pool.max_size }
    assert_same before, @database.pool.shards
    assert_equal 0, @database.pool.shards[:default].in_use
  end

  def test_minitest
    people = @people
    ran = Class.new(Minitest::Test) do
      include Support

      define_method(:test_writes) { assert_equal 1, people.tap { |table| table.insert(email: "x") }.count }
    end
    self.class.const_set(:Ran, ran)
    2.times { assert ran.new("test_writes").run.passed? }
    assert_equal 0, @people.count
  ensure
    Minitest::Runnable.runnables.delete(ran)
    self.class.send(:remove_const, :Ran)
  end

  def test_without_a_database
    Pelton::Sequel.disconnect
    assert_includes assert_raises(Pelton::Sequel::ConfigurationError) { rollback { flunk } }.message, "connect"
  end
end
