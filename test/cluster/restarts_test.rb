# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"

class ClusterRestartsTest < PeltonTest
  def setup
    @restarts = Pelton::Cluster::Restarts.new
  end

  def test_delays_grow_while_a_worker_dies_early
    assert_equal [0, 1, 3, 7, 15, 30, 30], Array.new(7) { @restarts.delay(0, early: true) }
    assert_equal 0, @restarts.delay(1, early: true)
    assert_equal 0, @restarts.delay(0, early: false)
    assert_equal 0, @restarts.delay(0, early: true)
  end

  def test_when_a_worker_may_be_started
    assert @restarts.due?(0)
    3.times { @restarts.delay(0, early: true) }

    refute @restarts.due?(0)
    assert @restarts.due?(1)
    assert_equal [3], @restarts.left.map(&:ceil)
  end

  def test_restarts_are_counted
    2.times { @restarts.count(1) }

    assert_equal({1 => 2}, @restarts.counts)
  end
end
