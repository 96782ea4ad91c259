# frozen_string_literal: true

require_relative "../support/sequel_databases"
require "pelton/sequel/command"

class SequelMigrationsLockTest < PeltonTest
  include SequelDatabases

  def setup
    @address = sqlite_file
    @database = connect(@address)
    @path = "#{@database.opts[:database]}-migrating"
  end

  def test_one_at_a_time_and_the_others_wait
    order = []
    Pelton.run do
      first = Pelton.spawn do
        lock.hold do
          order << :first
          Pelton.spawn { lock.hold(waiting: ->(holder) { order << holder[/process \d+/] }) { order << :second } }
            .then { |second| @second = second }
          sleep 0.01 until order.size == 2
          order << :first_ends
        end
      end
      first.await
      @second.await
    end

    assert_equal [:first, "process #{Process.pid}", :first_ends, :second], order
    refute_path_exists @path
  end

  def test_the_wait_has_an_end_that_names_the_holder
    error = lock.hold { assert_raises(Pelton::Sequel::Migrations::Failed) { lock(timeout: 0).hold { flunk } } }

    expected =
      /another process migrates this database: process #{Process.pid} on .*, since .* has not ended within 0 s/
    assert_match expected, error.message
  end

  def test_it_is_given_back_after_an_error
    assert_raises(IOError) { lock.hold { raise IOError } }

    assert_equal 1, lock(timeout: 0).hold { 1 }
  end

  def test_its_holder_may_take_it_again
    one = lock

    assert_equal 2, one.hold { one.hold { 2 } }
  end

  def test_a_file_that_a_killed_process_has_left_is_no_lock
    File.write(@path, "process 1 on nowhere, since ever\n")

    assert_equal 1, lock(timeout: 0).hold { 1 }
    refute_path_exists @path
  end

  def test_a_database_in_memory_has_no_other_process
    assert_equal 1, Pelton::Sequel::Migrations::Lock.for(connect).hold { 1 }
  end

  private

  def lock(timeout: 30) = Pelton::Sequel::Migrations::Lock.for(@database, timeout: timeout)
end
