# frozen_string_literal: true

require_relative "test_helper"
require "monitor"
require "pelton"
require "set"
require "timeout"

# Rules of parking. Each of them was paid for with a crash or a hang (docs/adr/001-promote-and-inline.md).
class ParkingTest < PeltonTest
  def setup
    @log = []
  end

  def teardown
    Pelton.on_error
  end

  # ---- the ten rules -------------------------------------------------------------------------------------------------

  # 1. After each dispatch back to the top: what ran may have parked, stopped the reactor, or emptied the queue.
  def test_rule_1_a_tick_goes_on_after_each_job_whatever_it_did
    Pelton.run do
      Pelton.next_tick { @log << 1 and sleep }
      Pelton.next_tick { @log << 2 and raise "told to on_error" }
      Pelton.next_tick { @log << 3 and Fiber.schedule { sleep } }
      Pelton.next_tick { @log << 4 and Fiber.new { Pelton::Reactor.current.yield }.resume }
      Pelton.on_error { |error| @log << error.message }
      Pelton.next_tick { Pelton.stop }
      Pelton.next_tick { @log << 5 }
    end

    assert_equal [1, 2, "told to on_error", 3, 4, 5], @log
  end

  # 2. A waiter is unlinked on every way out.
  def test_rule_2_whatever_ends_a_wait_leaves_nothing_behind
    reader, writer = IO.pipe
    Pelton.run do
      ways = {
        timeout: -> { Timeout.timeout(0.001) { sleep } },
        raised: -> { raised_in { sleep } },
        raised_in_io: -> { raised_in { reader.wait_readable } },
        raised_in_pop: -> { raised_in { Queue.new.pop } },
        late: -> { Pelton::Operation.new.await(timeout: 0.001) },
        cancelled: -> { cancelled { Pelton::Operation.new.await } },
        bad_descriptor: -> { IO.for_fd(reader.fileno.tap { reader.close }).wait_readable }
      }
      ways.each do |name, way|
        way.call
      rescue StandardError, Pelton::Cancelled => error
        @log << [name, error.class]
      end

      assert_equal 0, Pelton.stats[:parked]
      assert_equal 0, Pelton.stats[:ready]
    end

    assert_equal [[:timeout, Timeout::Error], [:raised, ArgumentError], [:raised_in_io, ArgumentError], [:raised_in_pop, ArgumentError],
      [:late, Pelton::TimeoutError], [:cancelled, Pelton::Cancelled], [:bad_descriptor, Errno::EBADF]], @log
  ensure
    writer.close
  end

  # 3. An interrupt after a wait is run's: it does not strike the fiber that happened to do the waiting.
  def test_rule_3_an_interrupt_leaves_run_and_spares_who_waits
    thread = Thread.new do
      Pelton.run do
        Pelton.spawn { noting_what_is_raised { sleep } }
        Pelton.next_tick { @log << :ready }
        noting_what_is_raised { sleep }
      end
    rescue => error
      @log << error.message
    end
    eventually { @log.include?(:ready) }
    thread.raise("interrupt")
    thread.join

    assert_equal [:ready, Pelton::Cancelled, Pelton::Cancelled, "interrupt"], @log
  end

  # 4. Thread#kill goes on, after the parked fibers had their time.
  def test_rule_4_a_killed_thread_ends_and_its_fibers_run_their_ensure_blocks
    thread = Thread.new do
      Pelton.run do
        3.times { |i| Pelton.spawn { ensuring(i) { sleep } } }
        ensuring(:main) { sleep }
      end
      @log << :never
    ensure
      @log << :thread
    end
    eventually { thread.status == "sleep" && Pelton::Watchdog.resting? }
    thread.kill

    assert_same thread, thread.join(10)
    assert_equal [:thread, 0, 1, 2, :main].to_set, @log.to_set
    assert_equal 5, @log.size
    assert_equal :thread, @log.last
  end

  def test_rule_4_also_when_the_only_worker_is_killed
    thread = Thread.new do
      Pelton.run do
        Fiber.schedule { ensuring(:fiber) { sleep } }
        ensuring(:main) { sleep }
      end
    end
    eventually { thread.status == "sleep" && Pelton::Watchdog.resting? }
    thread.kill.join

    assert_equal %i[fiber main], @log.sort
  end

  # 5. An uncaught error of a fiber begun by transfer would land in an innocent one.
  def test_rule_5_an_uncaught_error_of_a_scheduled_fiber_strikes_nobody
    Pelton.on_error { |error| @log << error.message }
    Pelton.run do
      Pelton.spawn { noting_what_is_raised { sleep 0.005 } }
      Fiber.schedule { raise "one" }
      Fiber.schedule { sleep(0.001) && raise("two") }
      Pelton.spawn { sleep(0.001) && raise("three") }
      noting_what_is_raised { sleep 0.01 }
    end

    assert_equal %w[one two three].to_set, @log.to_set
  end

  # 6. A ConditionVariable parks in kernel_sleep, so unblock must wake that, too.
  def test_rule_6_a_condition_variable_wakes_its_waiter
    mutex, condition = Mutex.new, ConditionVariable.new
    Pelton.run do
      waiting = Pelton.spawn { mutex.synchronize { condition.wait(mutex) } && @log << :woken }
      Pelton.spawn { mutex.synchronize { condition.signal } }
      waiting.await
    end

    assert_equal [:woken], @log
  end

  # 7. Whom an unblock wakes is looked up when it is called: later it could hit the fiber's next sleep.
  def test_rule_7_an_unblock_does_not_reach_the_next_wait
    queue = Queue.new
    Pelton.run do
      task = Pelton.spawn do
        2.times { @log << queue.pop }
        begin
          @log << Pelton::Operation.new.await(timeout: 0.003)
        rescue
          @log << $!.class
        end
      end
      Pelton.next_tick { 2.times { |i| queue << i } } # the second push finds nobody, the first woke the task
      task.await
    end

    assert_equal [0, 1, Pelton::TimeoutError], @log
  end

  # 8. When no fiber can be made, that strikes the fiber that wants to park, and nobody else.
  def test_rule_8_a_worker_that_cannot_be_made_is_an_error_of_the_one_who_parks
    # So that memory runs out for fibers alone: Ruby ends itself when there is none for an error's own raising.
    output = ruby_output(<<~RUBY, env: {"RUBY_GC_HEAP_INIT_SLOTS" => "300000", "MALLOC_TOP_PAD_" => "67108864"}, deadline: 60)
      require "pelton"
      refused = served = 0
      Pelton.on_error { |error| abort error.full_message unless error.is_a?(FiberError) }
      Process.setrlimit(:AS, File.read("/proc/self/statm").to_i * 4096 + 200_000_000)
      Pelton.run do
        gate = Queue.new
        3000.times do
          Pelton.next_tick do
            gate.pop
            served += 1
          rescue FiberError, NoMemoryError
            refused += 1
          end
        end
        sleep 0.001 until refused + gate.num_waiting == 3000
        p refused.positive?, gate.num_waiting.positive?
        gate.close
      end
      p refused + served, Pelton.stats.values_at(:parked, :ready)
    RUBY

    assert_equal "true\ntrue\n3000\n[0, 0]\n", output
  end

  # 9. Three things can come out of a switch: an error of the switch itself, what somebody raised into this fiber, and an
  # interrupt.
  def test_rule_9_what_comes_out_of_a_switch_is_told_apart
    Pelton.run do
      parked = nil
      Pelton.spawn { parked = Fiber.current and noting_what_is_raised { sleep } }
      Pelton.next_tick { parked.raise(IOError) } # a stranger: Fiber#raise; the callback is lost, the fiber is not
      noting_what_is_raised { sleep 0.005 }
      @log << :main
    end

    assert_equal [IOError, :main], @log
  end

  # 10. What C holds while it runs is marked.
  def test_rule_10_everything_c_holds_survives_collections
    # Where little else is loaded collections are quick. The watchdog would have much to say, and each word would cost one.
    output = ruby_output(<<~RUBY, env: {"PELTON_WATCHDOG" => "off"})
      require "pelton"
      log = []
      GC.stress = true
      Pelton.run do
        Pelton.next_tick { log << "tick" * 2 }
        Pelton.add_timer(0) { log << "timer" * 2 }
        Pelton.spawn { log << Pelton.spawn { +"task" * 2 }.await }
        operation = Pelton::Operation.new
        Pelton.spawn { log << operation.await }
        Pelton.next_tick { operation.succeed("operation" * 2) }
        Fiber.schedule { sleep(0) && log << "fiber" * 2 }
      end
      GC.stress = false
      puts log.sort
    RUBY

    assert_equal %w[ticktick timertimer tasktask operationoperation fiberfiber].sort, output.split
  end

  # ---- waking --------------------------------------------------------------------------------------------------------

  def test_many_threads_unblock_at_once
    Pelton.run do
      tasks = Array.new(200) { |i| Pelton.spawn { Thread.new { i.tap { Thread.pass } }.value } }

      assert_equal (0...200).sum, tasks.sum(&:await)
      assert_equal 0, Pelton.stats[:parked]
    end
  end

  def test_a_burst_from_a_thread_reaches_all
    queue = Queue.new
    Pelton.run do
      tasks = Array.new(1000) { Pelton.spawn { queue.pop } }
      Pelton.next_tick { Thread.new { 1000.times { |i| queue << i } } }

      assert_equal (0...1000).to_a, tasks.map(&:await).sort
    end
  end

  def test_a_mutex_held_across_a_wait_keeps_others_out
    mutex = Mutex.new
    Pelton.run do
      5.times do |i|
        Pelton.spawn do
          mutex.synchronize do
            @log << i
            sleep 0.001
            @log << i
          end
        end
      end
    end

    assert_equal [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], @log
  end

  def test_a_monitor_belongs_to_the_fiber_that_entered_it
    monitor = Monitor.new
    Pelton.run do
      Pelton.spawn { monitor.synchronize { sleep(0.001) && monitor.synchronize { @log << 1 } } }
      Pelton.spawn { monitor.synchronize { @log << 2 } }
    end

    assert_equal [1, 2], @log
  end

  # A waiter that was given the mutex goes on, though it was cancelled: otherwise all behind it would wait for ever.
  def test_a_cancelled_waiter_of_a_mutex_loses_no_wake_up
    mutex = Mutex.new
    Pelton.run do
      mutex.lock
      tasks = Array.new(2) { |i| Pelton.spawn { mutex.synchronize { @log << i } } }
      Pelton::Reactor.current.yield
      mutex.unlock # the first one is woken
      tasks.first.cancel
      tasks.last.await
    end

    assert_equal [0, 1], @log
    refute mutex.locked?
  end

  def test_a_cancelled_waiter_of_a_queue_loses_no_item
    queue = Queue.new
    Pelton.run do
      first = Pelton.spawn { @log << [:first, queue.pop] }
      second = Pelton.spawn { @log << [:second, queue.pop] }
      Pelton::Reactor.current.yield
      queue << 1
      first.cancel # it was woken for the item already
      queue << 2 if @log.empty?
      [first, second].each { |task|
        begin
          task.await
        rescue
          nil
        end
      }
    end

    assert_equal [[:first, 1], [:second, 2]], @log
  end

  # It was given an item, so it goes on; the exception is not lost.
  def test_what_is_raised_in_an_unblocked_fiber_strikes_at_its_next_wait
    queue = Queue.new
    Pelton.run do
      task = Pelton.spawn { popping_and_sleeping(queue) }
      Pelton::Reactor.current.yield
      queue << :item
      @log << Pelton::Reactor.current.raise_in(@popper, ArgumentError, "kept")
      task.await
    end

    assert_equal [true, :item, "kept", :end], @log
  end

  # The other order: the fiber is on its way with an exception when it is given the item, which nobody else would get.
  def test_an_item_given_to_a_fiber_with_an_exception_comes_first
    queue = Queue.new
    Pelton.run do
      task = Pelton.spawn { popping_and_sleeping(queue) }
      Pelton::Reactor.current.yield
      Pelton::Reactor.current.raise_in(@popper, ArgumentError, "kept")
      queue << :item
      task.await
    end

    assert_equal [:item, "kept", :end], @log
  end

  def test_two_exceptions_for_one_fiber_strike_one_after_the_other
    Pelton.run do
      task = Pelton.spawn do
        @popper = Fiber.current
        3.times { @log << (sleep(0.001) && :slept) rescue @log << $!.message } # standard:disable Style/RescueModifier
      end
      Pelton::Reactor.current.yield
      %w[one two].each { |message| Pelton::Reactor.current.raise_in(@popper, message) }
      task.await
    end

    assert_equal ["one", "two", :slept], @log
  end

  # A fiber that was unblocked when its run ended, and then yielded, is resumed in the next run.
  def test_who_outlives_a_run_is_not_cancelled_in_the_next
    queue = Queue.new
    fiber = Fiber.new { @log << queue.pop << Fiber.yield << sleep(0) }
    Pelton.run do
      Pelton.next_tick { fiber.resume }
      Pelton::Reactor.current.yield
      queue << :item
      Pelton.stop
    end
    Pelton.run { fiber.resume(:resumed) }

    assert_equal [:item, :resumed, 0], @log
  end

  def test_a_kept_exception_dies_with_its_callback
    queue = Queue.new
    Pelton.run do
      Pelton.next_tick { @popper = Fiber.current and @log << queue.pop }
      Pelton::Reactor.current.yield
      queue << :item
      Pelton::Reactor.current.raise_in(@popper, "for a callback that waits no more")
      10.times { Pelton.next_tick { sleep(0) && @log << :other } } # on the same worker, too
    end

    assert_equal [:item, *[:other] * 10], @log
  end

  def test_a_sized_queue_holds_its_producer_back
    queue = SizedQueue.new(1)
    Pelton.run do
      Pelton.spawn { 5.times { |i| queue << i and @log << -i } && queue.close }
      while (i = queue.pop)
        @log << i
      end
    end

    assert_equal [0, 1, 2, 3, 4], @log.select(&:positive?).unshift(0)
    assert_equal 10, @log.size
  end

  # Making a worker runs Ruby; a fiber that is woken there must not be put to sleep. The trace does what a trap handler can.
  def test_a_fiber_that_is_woken_while_it_hands_over_goes_on
    [-> { sleep 0.003 }, -> { Fiber.new { sleep 0.003 }.resume }].each do |meanwhile|
      Thread.new {
        Pelton.run do
          trace = TracePoint.new(:c_call) do |call|
            next unless call.self.is_a?(Fiber)
            trace.disable
            @log << :met
            meanwhile.call
          end
          Pelton.next_tick {} # so that it does not wait inline
          trace.enable { sleep 0.001 }
          @log << :woken
        end
      }.join
    end

    assert_equal %i[met woken met woken], @log
  end

  # ---- fibers of the user's own ----------------------------------------------------------------------------------------

  # em-synchrony's shape.
  def test_a_fiber_that_yields_is_resumed_by_a_callback
    Pelton.run do
      fiber = Fiber.new do
        current = Fiber.current
        Pelton.add_timer(0.001) { current.resume(:answer) }
        @log << Fiber.yield
        Pelton.next_tick { current.resume(:again) }
        @log << Fiber.yield
      end
      fiber.resume
      @log << :returned
    end

    assert_equal %i[returned answer again], @log
  end

  def test_a_resumed_fiber_parks_together_with_those_that_wait_for_it
    Pelton.run do
      Pelton.spawn { 3.times { sleep(0.001) && @log << :other } }
      inner = Fiber.new { sleep(0.002) && Fiber.new { sleep(0.002) && :value }.resume }
      @log << inner.resume
    end

    assert_equal [:value, :other, :other, :other].to_set, @log.to_set
  end

  def test_resuming_a_parked_fiber_is_an_error_of_who_tries
    Pelton.run do
      parked = nil
      Pelton.spawn { (parked = Fiber.current) && noting_what_is_raised { sleep 0.003 } }
      Pelton::Reactor.current.yield
      assert_raises(FiberError) { parked.resume }
      assert_raises(FiberError) { Thread.new { parked.raise }.tap { |thread| thread.report_on_exception = false }.join }
    end

    assert_empty @log
  end

  def test_a_stranger_that_transfers_to_a_parked_fiber_wakes_nobody
    Pelton.run do
      parked = nil
      task = Pelton.spawn {
        begin
          (parked = Fiber.current) && @log << Pelton::Operation.new.await(timeout: 0.05)
        rescue
          @log << $!.class
        end
      }
      Pelton::Reactor.current.yield
      Pelton.next_tick { parked.transfer } # is lost for it
      Pelton.next_tick { @log << :next }
      task.await
    end

    assert_equal [:next, Pelton::TimeoutError], @log
  end

  # Ruby's own Enumerator runs its block on a fiber that Ruby calls blocking: there is no hook, but Pelton's own calls park.
  def test_an_operation_in_an_enumerator_parks
    Pelton.run do
      task = Pelton.spawn { sleep(0.002) && :value }
      Pelton.spawn { @log << :other }
      @log << Enumerator.new { |values| values << task.await }.next
    end

    assert_equal %i[other value], @log
  end

  def test_what_sticks_to_a_fiber_stays_with_it
    Pelton.run { 2.times { |i| Pelton.spawn { use_what_sticks(i) } } }

    assert_equal [[0, "0", "error 0"], [1, "1", "error 1"]], @log
  end

  # ---- collecting ------------------------------------------------------------------------------------------------------

  def test_results_that_nobody_has_fetched_yet_survive
    Pelton.run do
      operations = Array.new(50) { Pelton::Operation.new }
      awaited = operations.map { |operation| Pelton.spawn { operation.await } }
      Pelton::Reactor.current.yield
      operations.each_with_index { |operation, i| operation.succeed("value #{i}") }
      operations.clear
      GC.start
      100.times { "garbage" * 10 }
      GC.compact if GC.respond_to?(:compact)

      assert_equal Array.new(50) { |i| "value #{i}" }, awaited.map(&:await)
    end
  end

  def test_parked_fibers_survive_compaction
    skip "this Ruby does not compact" unless GC.respond_to?(:compact)
    Pelton.run do
      tasks = Array.new(20) { |i| Pelton.spawn { ("x" * i).tap { sleep 0.003 } } }
      Pelton.add_timer(0.001) { GC.compact }

      assert_equal (0...20).to_a, tasks.map { |task| task.await.size }
    end
  end

  private

  def popping_and_sleeping(queue)
    @popper = Fiber.current
    @log << queue.pop
    sleep
  rescue ArgumentError => error
    @log << error.message
    sleep 0 # nothing more is raised
    @log << :end
  end

  def use_what_sticks(number)
    catch(:tag) do
      Thread.current[:number] = number
      raise "error #{number}"
    rescue
      "a#{number}" =~ /(\d)/
      sleep 0.001
      @log << [Thread.current[:number], $1, $!.message]
      throw :tag
    end
  end

  def noting_what_is_raised
    yield
  rescue Exception => error # standard:disable Lint/RescueException
    @log << error.class
    raise if error.is_a?(Pelton::Cancelled)
  end

  def ensuring(name)
    yield
  ensure
    Pelton.run { sleep 0.001 } # an ensure block may wait
    @log << name
  end

  def raised_in(&block)
    fiber = Fiber.current
    Pelton.next_tick { Pelton::Reactor.current.raise_in(fiber, ArgumentError.new("raised in")) }
    block.call
  end

  def cancelled(&block)
    task = Pelton.spawn(&block)
    Pelton.next_tick { task.cancel }
    task.await
  end
end
