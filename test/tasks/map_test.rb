# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class MapTest < PeltonTest
  def test_the_values_come_in_the_order_of_the_list
    values = Pelton.run { Pelton.map([3, 1, 2]) { |number| sleep(number / 1000.0) && number * 10 } }

    assert_equal [30, 10, 20], values
  end

  def test_so_many_calls_at_a_time
    {1 => 1, 3 => 3, nil => 8, 100 => 8}.each do |limit, expected|
      inside = most = 0
      Pelton.map(1..8, concurrency: limit) do
        most = [most, inside += 1].max
        sleep 0.001
        inside -= 1
      end

      assert_equal expected, most
    end
  end

  def test_twenty_at_a_time_by_default
    inside = most = 0
    Pelton.map(1..30) do
      most = [most, inside += 1].max
      sleep 0.001
      inside -= 1
    end

    assert_equal 20, most
  end

  def test_the_first_error_ends_the_others_before_it_is_raised
    ended = []
    started = 0
    error = assert_raises(IOError) do
      Pelton.map(0..9, concurrency: 3) do |number|
        started += 1
        sleep(number.zero? ? 0.001 : 3600)
        raise IOError, "number #{number}"
      ensure
        ended << number
      end
    end

    assert_equal "number 0", error.message
    assert_equal [0, 1, 2], ended.sort
    assert_equal 3, started
  end

  def test_errors_after_the_first_are_not_reported
    reported = errors_reported do
      assert_raises(IOError) do
        Pelton.map(0..2) do |number|
          sleep(number.zero? ? 0.001 : 3600)
          raise IOError
        ensure
          raise EOFError unless number.zero?
        end
      end
    end

    assert_empty reported
  end

  def test_nested
    assert_equal [[1, 2], [2, 4]], Pelton.map([1, 2]) { |a| Pelton.map([1, 2]) { |b| sleep(0) && a * b } }
  end

  def test_any_enumerable
    assert_equal [[:a, 1]], Pelton.map({a: 1}) { |pair| pair }
    assert_empty Pelton.map([]) { flunk }
  end

  def test_wrong_arguments
    assert_raises(ArgumentError) { Pelton.map([1]) }
    [0, -1, 1.5].each { |limit| assert_raises(ArgumentError) { Pelton.map([1], concurrency: limit) {} } }
  end
end
