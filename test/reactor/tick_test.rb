# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"
require "socket"

# next_tick and yield: the order of callbacks, and that busy ones starve neither timers nor IO.
class TickTest < PeltonTest
  include EventLog

  def test_next_tick_on_the_reactor_of_an_ended_thread_says_so
    reactor = nil
    Thread.new { Pelton.run { reactor = Pelton::Reactor.current } }.join

    assert_raises(Pelton::ClosedError) { reactor.next_tick { flunk } }
  end

  def test_next_tick_before_run_waits_for_run
    Pelton::Reactor.current.next_tick { @log << :tick }
    assert_empty @log
    Pelton.run { @log << :main }

    assert_equal %i[tick main], @log
  end

  def test_what_is_no_proc_is_refused
    error = assert_raises(TypeError) { Pelton::Reactor.current.enqueue(:tick) }

    assert_equal "wrong argument type Symbol (expected Proc)", error.message
  end

  def test_a_tick_that_queues_itself_for_ever_starves_neither_io_nor_timers
    reader, writer = IO.pipe
    Pelton.run do
      tick = -> { Pelton.next_tick(&tick) }
      Pelton.next_tick(&tick)
      Pelton.add_timer(0.001) { writer.write("x") }
      @log << reader.read(1)
      Pelton.stop
    end

    assert_equal ["x"], @log
  ensure
    [reader, writer].each(&:close)
  end

  def test_a_task_that_only_yields_starves_neither_timers_nor_io
    reader, writer = IO.pipe
    Pelton.run do
      done = false
      Pelton.spawn { @log << reader.readpartial(1) && done = true }
      Pelton.add_timer(0.001) { writer.write("x") }
      Pelton::Reactor.current.yield until done
    end

    assert_equal ["x"], @log
  ensure
    [reader, writer].each(&:close)
  end

  # The socket is always ready: it has data again whenever it is read.
  def test_a_reader_that_always_finds_data_lets_the_loop_run
    near, far = UNIXSocket.pair.map { |socket| Pelton::Stream.for_fd(socket.tap { _1.autoclose = false }.fileno) }
    Pelton.run do
      stopped = false
      Pelton.add_timer(0.001) { stopped = true }
      until stopped
        far.write("x" * 10)
        far.flush
        near.readpartial(10)
      end
      @log << :end
    end

    assert_equal [:end], @log
  end

  def test_a_stream_that_was_flushed_does_not_keep_the_loop_running
    near, far = UNIXSocket.pair.map { |socket| Pelton::Stream.for_fd(socket.tap { _1.autoclose = false }.fileno) }
    Pelton.run do
      3.times { Pelton::Reactor.current.yield } # the streams' first events are over
      far.write("x")
      far.flush
      near.readpartial(1)
      @log << :end
    end

    assert_equal [:end], @log
  end

  def test_yield_lets_all_ready_callbacks_go_first
    Pelton.run do
      3.times { |i| Pelton.next_tick { @log << i } }
      Pelton::Reactor.current.yield
      @log << :main
    end

    assert_equal [0, 1, 2, :main], @log
  end
end
