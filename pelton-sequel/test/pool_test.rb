# frozen_string_literal: true

require_relative "support/sequel_databases"

class PoolTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect(sqlite_file, pool: 2, timeout: 0.2)
    @pool = @database.pool
  end

  def test_a_fiber_gets_its_own_connection_again
    @database.synchronize { |outer| @database.synchronize { |inner| assert_same outer, inner } }

    assert_equal 0, writers.in_use
    assert_equal 1, writers.idle
  end

  def test_two_fibers_have_two_connections
    Pelton.run do
      connections = Pelton.map([1, 2]) do
        @database.synchronize(:read_only) { |connection| sleep(0.01).then { connection } }
      end

      assert_equal 2, connections.uniq.size
    end
  end

  def test_who_waits_is_served_in_order
    order = []
    Pelton.run do
      Pelton.map((1..20).to_a, concurrency: nil) { |i| @database.synchronize { sleep(0.001).then { order << i } } }
    end

    assert_equal (1..20).to_a, order
  end

  # A fiber that comes while others wait must not take the connection that has just come free.
  def test_nobody_overtakes
    order = []
    Pelton.run do
      Pelton.group do |group|
        group.spawn { @database.synchronize { sleep 0.01 }.then { @database.synchronize { order << :late } } }
        group.spawn { @database.synchronize { order << :early } }
      end
    end

    assert_equal %i[early late], order
  end

  def test_waiting_ends_with_an_error_that_names_who_holds_connections
    error = nil
    Pelton.run do
      done = Pelton::Operation.new
      Pelton.spawn(name: "report") { @database.transaction { done.await } }
      sleep 0
      error = assert_raises(Pelton::Sequel::PoolTimeoutError) { @database.synchronize {} }
      done.succeed
    end

    assert_predicate error, :retriable?
    assert_kind_of Pelton::TimeoutError, error
    assert_match(/within 0.2 s: 1 of 1 are in use, 1 wait. Held by task "report" for \d+\.\d+ s, at .*pool_test.rb:\d+/,
      error.message)
    assert_equal 1, writers.timeouts
    assert_equal 0, writers.waiting
    assert_equal 0, writers.in_use
  end

  def test_a_cancelled_wait_leaves_nothing_behind
    Pelton.run do
      done = Pelton::Operation.new
      Pelton.spawn { @database.synchronize { done.await } }
      sleep 0
      waiting = Pelton.spawn { @database.synchronize {} }
      sleep 0
      assert_equal 1, writers.waiting
      waiting.cancel
      assert_raises(Pelton::Cancelled) { waiting.await }
      done.succeed
      @database.synchronize { assert_equal 1, writers.in_use }
    end

    assert_equal 0, writers.waiting
    assert_equal 0, writers.in_use
    assert_equal 1, writers.idle
  end

  # It is woken and cancelled in the same turn of the loop.
  def test_a_fiber_that_is_cancelled_with_a_connection_in_hand_gives_it_back
    Pelton.run do
      waiting = nil
      @database.synchronize do
        waiting = Pelton.spawn { @database.synchronize { flunk } }
        sleep 0
      end
      waiting.cancel
      assert_raises(Pelton::Cancelled) { waiting.await }
    end

    assert_equal 0, writers.waiting
    assert_equal 0, writers.in_use
    assert_equal 1, writers.idle
  end

  def test_a_cancelled_holder_gives_it_back
    Pelton.run do
      holder = Pelton.spawn { @database.synchronize { sleep } }
      sleep 0
      holder.cancel
      assert_raises(Pelton::Cancelled) { holder.await }

      assert_equal 0, writers.in_use
    end
  end

  def test_the_connection_of_a_dead_fiber_comes_back
    fiber = Fiber.new { @database.synchronize { Fiber.yield } }
    fiber.resume
    assert_equal 1, writers.in_use
    dead = Object.new
    def dead.alive? = false
    def dead.backtrace = []
    slot = writers.held.delete(fiber) # a dead fiber's `ensure` would have given it back: the case is made by hand
    writers.held[dead] = slot
    slot.fiber = dead
    silently { @database.synchronize { |connection| refute_same slot.connection, connection } }

    assert_equal 0, writers.in_use
    assert_equal 1, writers.size
  end

  def test_threads_share_it_outside_a_reactor
    order = Queue.new
    Array.new(8) { |i| Thread.new { 5.times { @database.synchronize { order << i } } } }.each(&:join)

    assert_equal 40, order.size
    assert_equal 0, writers.in_use
    assert_equal 1, writers.size
  end

  def test_a_connection_in_another_fiber_is_refused
    Pelton.run do
      @database.synchronize do |connection|
        error = assert_raises(Pelton::Sequel::SharedConnectionError) do
          Pelton.spawn do
            @database.log_connection_yield("SELECT 1", connection) { connection.execute("SELECT 1") }
          end.await
        end

        assert_match(/belongs to another fiber/, error.message)
      end
    end
  end

  def test_two_queries_at_once_on_one_connection_are_refused
    @database.synchronize do |connection|
      @database.log_connection_yield("SELECT 1", connection) do
        error = assert_raises(Pelton::Sequel::SharedConnectionError) do
          @database.log_connection_yield("SELECT 2", connection) {}
        end

        assert_match(/in the middle of another query: SELECT \?/, error.message)
      end
    end
  end

  def test_a_transaction_reads_what_it_has_written
    @database.create_table(:posts) { primary_key :id }
    @database.transaction do
      @database[:posts].insert

      assert_equal 1, @database[:posts].count
    end
  end

  def test_disconnecting_closes_idle_connections_and_those_in_use_later
    @database.synchronize do
      @pool.disconnect

      assert_equal 1, writers.size
    end
    assert_equal 0, writers.size
    assert_equal 1, @database.get(1)
  end

  def test_an_idle_connection_is_closed
    database = connect(sqlite_file, pool: 3, max_idle: 0.01)
    readers = database.pool.shards[:read_only]
    Pelton.run do
      Pelton.map([1, 2, 3]) { database.synchronize(:read_only) { sleep 0.001 } }
      assert_equal 3, readers.size
      sleep 0.02
      3.times { database.synchronize(:read_only) {} }
    end

    assert_equal 1, readers.size
  end

  def test_a_child_has_connections_of_its_own
    @database.create_table(:posts) { primary_key :id }
    mine = @database.synchronize(&:object_id)
    reader, writer = IO.pipe
    pid = fork do
      @database[:posts].insert
      writer.puts @database.synchronize(&:object_id) == mine, writers.size
      writer.close
      exit!(0)
    end
    writer.close
    Process.wait(pid)

    assert_equal "false\n1\n", reader.read
    assert_equal 1, @database[:posts].count
    assert_equal mine, @database.synchronize(&:object_id)
  end

  def test_a_size_of_zero_is_refused
    error = assert_raises(Pelton::Sequel::ConfigurationError) { connect("sqlite::memory:", pool: 0) }

    assert_match(/one connection or more/, error.message)
  end

  # They would read and write the default database.
  def test_shards_are_refused
    error = assert_raises(Pelton::Sequel::ConfigurationError) do
      connect("sqlite::memory:", servers: {shard1: {database: "other.db"}})
    end
    assert_match(/\A:shard1: Pelton's pool knows the servers :default and :read_only/, error.message)
    plain = Sequel.mock(servers: {shard1: {}}, keep_reference: false)

    assert_raises(Pelton::Sequel::ConfigurationError) { plain.extension(:pelton_pool) }
    assert_raises(Pelton::Sequel::ConfigurationError) { @database.synchronize({database: "other.db"}) {} }
  end

  def test_extensions_for_sequel_s_own_pools_are_refused
    %i[server_block arbitrary_servers connection_validator connection_expiration].each do |extension|
      error = assert_raises(Pelton::Sequel::ConfigurationError, extension.inspect) { connect.extension(extension) }

      assert_match(/is for Sequel's own pools/, error.message)
    end
  end

  def test_a_model_with_the_plugin_sharding_has_the_servers_that_there_are
    @database.create_table(:posts) { primary_key :id }
    model = Class.new(Sequel::Model(@database[:posts])) { plugin :sharding }
    model.create

    assert_equal 1, model.first.id
    assert_equal 1, model.server(:read_only).first.id
  end

  private

  def writers = @pool.shards[:default]
end
