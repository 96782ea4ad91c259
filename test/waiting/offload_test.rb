# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class OffloadTest < PeltonTest
  self.deadline = 15

  def setup
    @gate = Queue.new
  end

  def test_runs_in_a_thread_while_the_loop_goes_on
    thread = nil
    value = Pelton.run do
      Pelton.spawn { @gate << :opened }
      Pelton.offload { (thread = Thread.current) && @gate.pop }
    end

    assert_equal :opened, value
    refute_same Thread.current, thread
  end

  def test_an_error_reaches_the_caller
    error = Pelton.run { assert_raises(KeyError) { Pelton.offload { raise_here } } }

    assert_equal "oh", error.message
    assert_match(/raise_here/, error.backtrace.first)
    assert_raises(SystemExit) { Pelton.run { Pelton.offload { exit } } }
    assert_raises(UncaughtThrowError) { Pelton.run { catch(:out) { Pelton.offload { throw :out } } } }
  end

  def test_a_block_that_ends_its_thread
    error = Pelton.run { assert_raises(Pelton::Error) { Pelton.offload { Thread.current.kill } } }

    assert_match(/ended its thread/, error.message)
    assert_equal 1, Pelton.run { Pelton.offload { 1 } }
  end

  def test_threads_come_one_by_one_and_no_more_than_the_limit
    pool = Pelton::Offload.new(concurrency: 3)
    sizes = Pelton.run do
      one = Array.new(2) { pool.call { 1 } } && pool.stats[:threads]
      tasks = Array.new(5) { Pelton.spawn { pool.call { @gate.pop } } }
      eventually("all at work") { pool.stats == {concurrency: 3, threads: 3, idle: 0, queue: 1000, queued: 2} }
      5.times { @gate << 1 }
      tasks.each(&:await)
      eventually("all idle") { pool.stats[:idle] == 3 }
      [one, pool.stats[:threads]]
    end

    assert_equal [1, 3], sizes
  end

  def test_direct_style_waits_for_a_free_slot_when_the_queue_is_full
    pool = Pelton::Offload.new(concurrency: 1, queue: 2)
    Pelton.run do
      tasks = Array.new(10) { |i| Pelton.spawn { pool.call { @gate.pop && i } } }
      eventually("a full queue") { pool.stats.values_at(:threads, :queued) == [1, 2] }
      3.times { sleep 0 }
      assert_equal 2, pool.stats[:queued]
      10.times { @gate << 1 }

      assert_equal (0..9).to_a, tasks.map(&:await)
    end
  end

  def test_a_timeout_leaves_the_block_to_itself
    log = Queue.new
    Pelton.run do
      begun = false
      until begun # a block that has not begun before its timeout never begins
        error = assert_raises(Pelton::TimeoutError) do
          Pelton.offload(timeout: 0.001) { (begun = true) && @gate.pop && log << :ended }
        end
        assert_match(/0.001 s/, error.message)
      end
      @gate << 1

      assert_equal :ended, log.pop
    end
  end

  def test_a_cancelled_task_drops_its_result
    errors = []
    Pelton.on_error { |error| errors << error }
    done = Queue.new
    Pelton.run do
      task = Pelton.spawn do
        Pelton.offload do
          @gate.pop
          raise "nobody handles this"
        ensure
          done << 1
        end
      end
      eventually("its begin") { @gate.num_waiting == 1 }
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
      @gate << 1
      done.pop
      Pelton.offload {}
    end

    assert_empty errors
  ensure
    Pelton.on_error
  end

  def test_a_cancelled_task_that_has_not_begun_never_does
    pool = Pelton::Offload.new(concurrency: 1)
    log = []
    Pelton.run do
      first = Pelton.spawn { pool.call { @gate.pop } }
      second = Pelton.spawn { pool.call { log << :second } }
      eventually("the queue") { pool.stats[:queued] == 1 }
      second.cancel
      @gate << 1
      first.await
      pool.call { log << :third }
    end

    assert_equal [:third], log
  end

  # As an exception does that is raised in the caller's thread, or while a trap handler waits.
  def test_an_exception_that_strikes_a_caller_with_a_slot_gives_the_slot_back
    pool = Pelton::Offload.new(queue: 1)
    Pelton.run do
      strike = TracePoint.new(:c_call, :call) do |point|
        strike.disable && raise(KeyError) if point.self.instance_of?(Queue) && point.method_id == :push
      end
      strike.enable
      assert_raises(KeyError) { pool.call { flunk "it has not begun" } }

      assert_equal :done, pool.call(timeout: 10) { :done }
    end
  end

  def test_without_a_reactor_the_block_is_called
    assert_same Thread.current, Pelton.offload { Thread.current }
    assert_raises(KeyError) { Pelton.offload { raise KeyError } }
    assert_raises(Pelton::TimeoutError) { Pelton.offload(timeout: 0.001) { sleep } }
    assert_equal 1, Pelton.offload(timeout: 5) { 1 }
    assert_raises(ArgumentError) { Pelton.offload }
  end

  def test_several_reactors_share_the_pool
    values = Array.new(4) do |i|
      Thread.new { Pelton.run { Array.new(20) { |j| Pelton.spawn { Pelton.offload { [i, j] } } }.map(&:await) } }
    end

    assert_equal [*0..3].product([*0..19]), values.flat_map(&:value)
  end

  def test_it_works_again_after_a_fork
    output = ruby_output(<<~RUBY, options: %w[-rpelton])
      Pelton.run do
        gate = Queue.new
        waiting = Pelton.spawn { Pelton.offload { gate.pop } }
        Pelton.offload { 1 }
        pid = fork { p Pelton.stats[:offload][:threads], Pelton.run { Pelton.offload { :child } } }
        Process.wait(pid)
        gate << :parent
        p waiting.await
      end
    RUBY

    assert_equal %w[0 :child :parent], output.lines(chomp: true)
  end

  def test_its_threads_keep_no_process_alive
    assert_equal "end\n", ruby_output(<<~RUBY, options: %w[-rpelton])
      Pelton.run { 3.times { Pelton.spawn { Pelton.offload { sleep } } } && sleep(0) && Pelton.stop }
      puts "end"
    RUBY
  end

  # No thread would ever take a block.
  def test_limits_that_are_none
    pool = Pelton::Offload.new(concurrency: 1)
    [0, -1, nil, 1.5].each do |number|
      assert_match(/Offload concurrency: must be a positive integer, not #{number.inspect}/,
        assert_raises(ArgumentError) { Pelton::Offload.new(concurrency: number) }.message)
      assert_match(/Offload queue: must/,
        assert_raises(ArgumentError) { Pelton::Offload.new(queue: number) }.message)
      assert_raises(ArgumentError) { pool.concurrency = number }
      assert_match(/Offload queue: must/, assert_raises(ArgumentError) { pool.queue = number }.message)
    end
    assert_equal 1, pool.concurrency
    assert_equal 1000, pool.queue
  end

  def test_statistics
    assert_equal %i[concurrency threads idle queue queued], Pelton.stats[:offload].keys
    assert_equal 20, Pelton.stats[:offload][:concurrency]
  end

  # Ruby's own work for which it calls blocking_operation_wait writes to the stack of the fiber that waits.
  def test_a_caller_that_is_given_up_waits_for_a_block_that_uses_its_memory
    Pelton.logger = nil
    log, gate = Queue.new, Queue.new
    over = false
    main = Thread.current
    opener = Thread.new do # when the thread is blocked; a loop that waits just sleeps
      Thread.pass until over || main.inspect.end_with?("sleep_forever>")
      gate << true
    end
    Pelton.run(grace: 0.001) do
      Pelton.spawn do
        Pelton::Offload::POOL.call_to_end { gate.pop && log << :block }
      ensure
        log << :caller
      end
      sleep 0.0001 until gate.num_waiting == 1
      Pelton.stop
    end
    over = true
    opener.join

    assert_equal %i[block caller], Array.new(log.size) { log.pop }
  ensure
    Pelton.logger = $stderr
  end

  private

  def raise_here = raise(KeyError, "oh")
end
