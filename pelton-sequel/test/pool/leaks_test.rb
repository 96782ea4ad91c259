# frozen_string_literal: true

require_relative "../support/sequel_databases"
require_relative "../../../test/support/captured_log"

class PoolLeaksTest < PeltonTest
  include CapturedLog
  include SequelDatabases

  AFTER = 0.05

  def setup
    super
    @database = connect(sqlite_file, leak_after: AFTER)
  end

  def test_a_connection_that_is_held_for_long_is_named_once_each_time
    Pelton.run do
      2.times do |i|
        done = Pelton::Operation.new
        task = Pelton.spawn(name: "report #{i}") { @database.transaction { done.await } }
        until_logged(i + 1)
        sleep AFTER * 2
        done.succeed
        task.await
      end
    end

    assert_equal 2, lines.size
    assert_match(/test\.db: a connection is held for longer than 0\.05 s, outside a query: by task "report 0" for 0\.\d+ s, at .*leaks_test\.rb:\d+/,
      lines.first)
    assert_match(/task "report 1"/, lines.last)
  end

  def test_a_long_query_is_no_leak
    Pelton.run do
      query = Pelton.spawn { @database.fetch(long_statement).all }
      sleep AFTER * 4
      query.cancel
      assert_raises(Pelton::Cancelled) { query.await }
    end

    assert_empty lines
  end

  def test_it_looks_only_while_connections_are_held
    Pelton.run do
      @database.get(1)
      assert_equal 1, watches
      sleep 0.005 until watches.zero?
      @database.get(1)
      assert_equal 1, watches
    end
    Pelton.run { @database.get(1).then { assert_equal 1, watches } }
  end

  def test_a_stop_iteration_of_the_logger_is_passed_on
    logger = Logger.new(nil)
    def logger.warn(*) = raise(StopIteration)
    Pelton.run do
      Pelton.logger = logger
      @database.transaction do
        watch = Pelton.tasks.find { |task| task.name.to_s.start_with?("watch the connections") }

        assert_raises(StopIteration) { watch.await(timeout: 10) }
      end
    end
  end

  def test_it_can_be_turned_off
    database = connect(sqlite_file, leak_after: nil)
    Pelton.run { database.get(1).then { assert_equal 0, watches } }
  end

  private

  def lines = log.lines.grep(/is held/)

  def watches = Pelton.tasks.count { |task| task.name.to_s.start_with?("watch the connections") }

  def until_logged(count)
    sleep 0.005 until lines.size >= count
  end
end
