# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

class AlarmsTest < PeltonTest
  def setup
    @log = []
    @callables = {}
  end

  def alarms = @alarms ||= Pelton::Alarms.new(@callables, self)

  def add(number, seconds, &block)
    @callables[number] = block || -> { @log << number }
    alarms._add(number, seconds)
  end

  def _failed(error, callable)
    @log << error.message << callable.class
  end

  def test_they_ring_once_in_the_order_of_their_instants
    Pelton.run do
      add(3, 0.003)
      add(1, 0)
      add(2, 0.001)
      sleep 0.01
    end

    assert_equal [1, 2, 3], @log
    assert_empty @callables
  end

  def test_one_that_is_cancelled_does_not_ring_even_when_it_is_due
    Pelton.run do
      add(1, 0) { alarms._cancel(2) }
      (2..4).each { |number| add(number, 0) }

      assert alarms._cancel(3)
      refute alarms._cancel(3)
      sleep 0.005
    end

    assert_equal [4], @log
  end

  def test_none_is_left_when_all_are_cleared
    Pelton.run do
      1000.times { |number| add(number, number / 1000.0) }
      before = Pelton.stats[:timers]
      alarms._clear

      assert_equal 1000, before - Pelton.stats[:timers]
      sleep 0.002
    end

    assert_empty @log
  end

  def test_what_is_called_may_wait_and_raise_and_be_no_proc
    Pelton.run do
      add(1, 0) do
        @log << alarms._ringing?
        sleep 0.002
        raise "late"
      end
      @callables[2] = method(:hash)
      alarms._add(2, 0.001)
      add(3, 0.001)
      sleep 0.01
      refute alarms._ringing?
    end

    assert_equal [true, 3, "late", Proc], @log
  end

  def test_what_is_collected_rings_no_more
    Pelton.run do
      before = Pelton.stats[:timers]
      [1].each { Pelton::Alarms.new({}, self)._add(1, 60) }
      3.times { GC.start }

      assert_operator Pelton.stats[:timers] - before, :<=, 1
    end
  end

  def test_they_belong_to_their_thread
    Pelton.run do
      mine = alarms

      assert_raises(Pelton::Error) { Thread.new { mine._add(1, 0) }.tap { |thread| thread.report_on_exception = false }.join }
    end
    assert_raises(Pelton::NotRunningError) { Pelton::Alarms.new({}, self) }
  end
end
