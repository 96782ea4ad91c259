# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"
require "pelton/test"

class HTTPDrainTest < PeltonTest
  def setup
    @left = 2
    @looks = 0
    @drain = Pelton::HTTP::Drain.new { @left.zero? }
  end

  def wait(timeout = nil) = @drain.wait(timeout) { @looks += 1 }

  def test_nothing_is_left
    @left = 0

    assert_equal true, wait
    assert_equal 1, @looks
  end

  def test_it_looks_again_at_each_change
    Pelton.run do
      waiting = Pelton.spawn { wait }
      2.times do
        @drain.changed
        sleep 0
      end

      refute_predicate waiting, :done?
      @left = 0
      @drain.changed

      assert_equal true, waiting.await
    end
  end

  def test_it_does_not_look_without_a_change
    Pelton.run do
      waiting = Pelton.spawn { wait }
      10.times { sleep 0 }

      assert_equal 1, @looks
      @left = 0
      @drain.changed
      waiting.await
    end
  end

  def test_a_change_in_another_thread
    Pelton.run do
      waiting = Pelton.spawn { wait }
      sleep 0
      Thread.new do
        @left = 0
        @drain.changed
      end

      assert_equal true, waiting.await
    end
  end

  def test_the_time_is_over
    assert_equal false, Pelton.run { wait(0.01) }
    assert_equal 2, @looks, "it looks for a last time"
  end

  def test_two_wait
    Pelton.run do
      waiting = Array.new(2) { Pelton.spawn { wait } }
      sleep 0
      @left = 0
      @drain.changed

      assert_equal [true, true], waiting.map(&:await)
    end
  end

  def test_a_change_without_a_wait
    assert_nil @drain.changed
  end
end
