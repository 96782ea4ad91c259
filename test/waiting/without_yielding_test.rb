# frozen_string_literal: true

require "socket"
require_relative "../test_helper"
require "pelton"

class WithoutYieldingTest < PeltonTest
  BYTES = 5000 # far more operations than the budget

  # All data is there before the first read.
  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @ticks = 0
  end

  def teardown
    @listener.close
  end

  def read_half(stream) = (BYTES / 2).times { stream.readpartial(1) }

  def assert_yields(stream)
    before = @ticks
    read_half(stream)

    assert_operator @ticks, :>, before
  end

  def test_ready_operations_keep_the_thread_inside_and_only_there
    with_data do |stream|
      before = @ticks
      Pelton.without_yielding { read_half(stream) }

      assert_equal before, @ticks
      assert_yields stream
    end
  end

  def test_a_wait_for_data_lets_other_tasks_run
    with_data do |stream|
      before = @ticks
      Pelton.without_yielding { sleep 0.001 until @ticks > before }

      assert_operator @ticks, :>, before
    end
  end

  def test_it_belongs_to_the_fiber
    with_data do |stream|
      held = Pelton.spawn { Pelton.without_yielding { sleep } }
      sleep 0.001
      before = @ticks
      BYTES.times { stream.readpartial(1) }

      assert_operator @ticks, :>, before
      held.cancel
    end
  end

  def test_nested_and_left_by_an_error
    with_data do |stream|
      before = @ticks
      assert_equal 1, Pelton.without_yielding {
        assert_raises(IOError) { Pelton.without_yielding { raise IOError } }
        read_half(stream)
        1
      }
      assert_equal before, @ticks
      assert_yields stream
    end
  end

  def test_the_loop_makes_no_iteration
    with_data do |stream|
      iterations = Pelton.stats[:iterations]
      Pelton.without_yielding { BYTES.times { stream.readpartial(1) } }

      assert_equal iterations, Pelton.stats[:iterations]
    end
  end

  def test_outside_a_reactor
    assert_raises(Pelton::NotRunningError) { Pelton.without_yielding {} }
  end

  private

  # Another task counts whenever it may run.
  def with_data
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", @listener.addr[1])
      peer = @listener.accept
      peer.write("x" * BYTES)
      peer.flush
      Pelton.spawn { loop { (@ticks += 1) && sleep(0) } }
      sleep 0.001
      yield stream
      Pelton.stop
    ensure
      peer&.close
      stream&.close
    end
  end
end
