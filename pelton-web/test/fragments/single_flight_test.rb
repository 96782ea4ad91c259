# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebFragmentsSingleFlightTest < PeltonTest
  def test_one_fiber_computes_for_all
    computed = 0
    values = run_fibers(5) { |flight| flight.run("a") { (computed += 1).tap { sleep 0.01 } } }

    assert_equal [1] * 5, values
    assert_equal 1, computed
  end

  def test_keys_do_not_wait_for_each_other
    flight = Pelton::Web::Fragments::SingleFlight.new(5)
    order = []
    Pelton.run do
      tasks = [Pelton.spawn { flight.run("slow") { sleep(0.05) && order << :slow } },
        Pelton.spawn { flight.run("quick") { order << :quick } }]
      tasks.each(&:await)
    end

    assert_equal %i[quick slow], order
  end

  def test_an_error_is_that_of_all_and_the_next_one_tries_again
    computed = 0
    errors = run_fibers(3) do |flight|
      flight.run("a") { sleep(0.01) && (computed += 1) && raise(KeyError, "broken") }
    rescue KeyError => error
      error.message
    end

    assert_equal ["broken"] * 3, errors
    assert_equal 1, computed
    flight = Pelton::Web::Fragments::SingleFlight.new(5)
    assert_raises(KeyError) { flight.run("a") { raise KeyError } }
    assert_equal 1, flight.run("a") { 1 }
  end

  # An error of the computation that looks like a time limit is none of the wait's.
  def test_a_timeout_of_the_computation_itself
    computed = 0
    errors = run_fibers(2) do |flight|
      flight.run("a") { sleep(0.01) && (computed += 1) && raise(Pelton::TimeoutError, "the database") }
    rescue Pelton::TimeoutError => error
      error.message
    end

    assert_equal ["the database"] * 2, errors
    assert_equal 1, computed
  end

  def test_a_fiber_that_has_waited_long_computes_itself
    flight = Pelton::Web::Fragments::SingleFlight.new(0.01)
    Pelton.run do
      gate = Pelton::Operation.new
      slow = Pelton.spawn { flight.run("a") { gate.await } }
      other = Pelton.spawn { flight.run("a") { :other } }

      assert_equal :other, other.await
      gate.succeed(:slow)
      assert_equal :slow, slow.await
    end
  end

  def test_a_fiber_that_is_cancelled_leaves_nothing_behind
    flight = Pelton::Web::Fragments::SingleFlight.new(5)
    Pelton.run do
      first = Pelton.spawn { flight.run("a") { sleep 60 } }
      other = Pelton.spawn { flight.run("a") { :never } }
      sleep 0.01
      first.cancel

      assert_raises(Pelton::ClosedError) { other.await }
      assert_equal 1, flight.run("a") { 1 }
    end
  end

  def test_a_block_may_want_its_own_key
    flight = Pelton::Web::Fragments::SingleFlight.new(5)

    assert_equal 1, flight.run("a") { flight.run("a") { 1 } }
  end

  def test_threads_do_not_wait_for_each_other
    flight = Pelton::Web::Fragments::SingleFlight.new(5)

    assert_equal 2, flight.run("a") { Thread.new { flight.run("a") { 2 } }.value }
  end

  private

  def run_fibers(count)
    flight = Pelton::Web::Fragments::SingleFlight.new(5)
    Pelton.run { Array.new(count) { Pelton.spawn { yield flight } }.map(&:await) }
  end
end
