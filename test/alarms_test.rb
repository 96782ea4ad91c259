# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

class AlarmsTest < PeltonTest
  # Is told of alarms.
  class Listener
    attr_reader :fired

    def initialize(&block)
      @fired = []
      @block = block
    end

    def _fire(number)
      @fired << number
      @block&.call(number)
    end
  end

  def test_they_ring_once_in_the_order_of_their_instants
    listener = Listener.new
    Pelton.run do
      alarms = Pelton::Alarms.new(listener)
      alarms._add(3, 0.003)
      alarms._add(1, 0)
      alarms._add(2, 0.001)
      sleep 0.01
    end

    assert_equal [1, 2, 3], listener.fired
  end

  def test_one_that_is_cancelled_does_not_ring_even_when_it_is_due
    alarms = nil
    listener = Listener.new { |number| alarms._cancel(2) if number == 1 }
    Pelton.run do
      alarms = Pelton::Alarms.new(listener)
      (1..4).each { |number| alarms._add(number, 0) }

      assert alarms._cancel(3)
      refute alarms._cancel(3)
      sleep 0.005
    end

    assert_equal [1, 4], listener.fired
  end

  def test_none_is_left_when_all_are_cleared
    listener = Listener.new
    Pelton.run do
      alarms = Pelton::Alarms.new(listener)
      1000.times { |number| alarms._add(number, number / 1000.0) }
      before = Pelton.stats[:timers]
      alarms._clear

      assert_equal 1000, before - Pelton.stats[:timers]
      sleep 0.002
    end

    assert_empty listener.fired
  end

  def test_what_is_collected_rings_no_more
    listener = Listener.new
    Pelton.run do
      before = Pelton.stats[:timers]
      [1].each { Pelton::Alarms.new(listener)._add(1, 60) }
      3.times { GC.start }

      assert_operator Pelton.stats[:timers] - before, :<=, 1
    end
    assert_empty listener.fired
  end

  def test_they_belong_to_their_thread
    Pelton.run do
      alarms = Pelton::Alarms.new(Listener.new)

      assert_raises(Pelton::Error) { Thread.new { alarms._add(1, 0) }.tap { |thread| thread.report_on_exception = false }.join }
    end
    assert_raises(Pelton::NotRunningError) { Pelton::Alarms.new(Listener.new) }
  end
end
