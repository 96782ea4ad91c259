# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class TimerTableTest < PeltonTest
  def setup
    @log = []
    @callables = {}
  end

  def table = @table ||= Pelton::TimerTable.new(@callables, self)

  def add(number, seconds, &block)
    @callables[number] = block || -> { @log << number }
    table.add(number, seconds)
  end

  def _failed(error, callable) = @log << error.message << callable.class
  Pelton.register_upcalls(timer_failed: instance_method(:_failed))

  def test_timers_fire_once_in_the_order_of_their_time
    Pelton.run do
      add(3, 0.003)
      add(1, 0)
      add(2, 0.001)
      sleep 0.01
    end

    assert_equal [1, 2, 3], @log
    assert_empty @callables
  end

  def test_a_cancelled_timer_does_not_fire_even_when_it_is_due
    Pelton.run do
      add(1, 0) { table.cancel(2) }
      (2..4).each { |number| add(number, 0) }

      assert table.cancel(3)
      refute table.cancel(3)
      sleep 0.005
    end

    assert_equal [4], @log
  end

  def test_clear_cancels_all_timers
    Pelton.run do
      1000.times { |number| add(number, number / 1000.0) }
      before = Pelton.stats[:timers]
      table.clear

      assert_equal 1000, before - Pelton.stats[:timers]
      sleep 0.002
    end

    assert_empty @log
  end

  def test_a_callable_may_wait_and_raise_and_need_not_be_a_proc
    Pelton.run do
      add(1, 0) do
        @log << table.firing?
        sleep 0.002
        raise "late"
      end
      @callables[2] = method(:hash)
      table.add(2, 0.001)
      add(3, 0.001)
      sleep 0.01
      refute table.firing?
    end

    assert_equal [true, 3, "late", Proc], @log
  end

  def test_the_timers_of_a_collected_table_do_not_fire
    Pelton.run do
      before = Pelton.stats[:timers]
      [1].each { Pelton::TimerTable.new({}, self).add(1, 60) }
      3.times { GC.start }

      assert_operator Pelton.stats[:timers] - before, :<=, 1
    end
  end

  def test_a_table_belongs_to_its_thread
    Pelton.run do
      mine = table

      assert_raises(Pelton::Error) do
        Thread.new { mine.add(1, 0) }.tap { |thread| thread.report_on_exception = false }.join
      end
    end
    assert_raises(Pelton::NotRunningError) { Pelton::TimerTable.new({}, self) }
  end
end
