# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

# Pelton::Deferrable.defer: work in direct style, whose result goes to a callback.
class DeferTest < PeltonTest
  def test_inside_a_reactor_the_block_runs_later
    log = []
    Pelton.run do
      deferrable = defer(->(value) { log << value }) { log.push(:work) && 5 }
      assert_empty log
      assert_equal 5, deferrable.await
    end
    assert_equal [:work, 5], log
  end

  def test_where_no_reactor_runs_the_block_runs_at_once
    log = []
    deferrable = defer(->(value) { log << value }) { log.push(:work) && 5 }
    assert_equal [:work, 5], log
    assert_equal 5, deferrable.await
    assert_equal :succeeded, deferrable.state
  end

  def test_errors_go_to_errbacks
    log = []
    failing = lambda do
      defer(->(_) { flunk }) { raise IOError, "no" }.errback { |error| log << error.class }
    end
    Pelton.run { assert_raises(IOError) { failing.call.await } }
    assert_raises(IOError) { failing.call.await }
    assert_equal [IOError, IOError], log
  end

  def test_a_callback_may_be_added_later_or_never
    assert_equal 5, defer(nil) { 5 }.await
    Pelton.run { assert_equal 5, defer(nil) { 5 }.await }
  end

  private

  def defer(listener, &work) = Pelton::Deferrable.defer(listener, &work)
end
