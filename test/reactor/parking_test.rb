# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"
require "set"
require "timeout"

# The rules of parking. Each of them was paid for with a crash or a hang (docs/internals/adr/001-promote-and-inline.md).
class ParkingTest < PeltonTest
  include EventLog

  # 1. After each job the loop begins again at the top: the job may have parked, stopped the reactor, or emptied the
  #    queue.
  def test_rule_1_a_tick_goes_on_after_each_job_whatever_the_job_did
    Pelton.run do
      Pelton.next_tick { @log << 1 and sleep }
      Pelton.next_tick { @log << 2 and raise "given to on_error" }
      Pelton.next_tick { @log << 3 and Fiber.schedule { sleep } }
      Pelton.next_tick { @log << 4 and Fiber.new { Pelton::Reactor.current.yield }.resume }
      Pelton.on_error { |error| @log << error.message }
      Pelton.next_tick { Pelton.stop }
      Pelton.next_tick { @log << 5 }
    end

    assert_equal [1, 2, "given to on_error", 3, 4, 5], @log
  end

  # 2. A waiter is unlinked on every way out of its wait.
  def test_rule_2_every_end_of_a_wait_leaves_nothing_behind
    reader, writer = IO.pipe
    Pelton.run do
      ways = {
        timeout: -> { Timeout.timeout(0.001) { sleep } },
        raised: -> { raised_in { sleep } },
        raised_in_io: -> { raised_in { reader.wait_readable } },
        raised_in_pop: -> { raised_in { Queue.new.pop } },
        deadline: -> { Pelton::Operation.new.await(timeout: 0.001) },
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

    assert_equal [[:timeout, Timeout::Error], [:raised, ArgumentError], [:raised_in_io, ArgumentError],
      [:raised_in_pop, ArgumentError],
      [:deadline, Pelton::TimeoutError], [:cancelled, Pelton::Cancelled], [:bad_descriptor, Errno::EBADF]], @log
  ensure
    writer.close
  end

  # 3. An interrupt after a wait is meant for run: it does not strike the fiber that happened to make the loop's wait.
  def test_rule_3_an_interrupt_leaves_run_and_spares_the_waiting_fibers
    thread = Thread.new do
      Pelton.run do
        Pelton.spawn { logging_exceptions { sleep } }
        Pelton.next_tick { @log << :ready }
        logging_exceptions { sleep }
      end
    rescue => error
      @log << error.message
    end
    eventually { @log.include?(:ready) }
    thread.raise("interrupt")
    thread.join

    assert_equal [:ready, Pelton::Cancelled, Pelton::Cancelled, "interrupt"], @log
  end

  # 4. Thread#kill goes on after the parked fibers had their time.
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

  # 5. Without protection, an uncaught error of a fiber that was started by transfer would land in another fiber.
  def test_rule_5_an_uncaught_error_of_a_scheduled_fiber_strikes_no_other_fiber
    Pelton.on_error { |error| @log << error.message }
    Pelton.run do
      Pelton.spawn { logging_exceptions { sleep 0.005 } }
      Fiber.schedule { raise "one" }
      Fiber.schedule { sleep(0.001) && raise("two") }
      Pelton.spawn { sleep(0.001) && raise("three") }
      logging_exceptions { sleep 0.01 }
    end

    assert_equal %w[one two three].to_set, @log.to_set
  end

  # 6. A ConditionVariable parks in kernel_sleep, so unblock must also wake a fiber that sleeps there.
  def test_rule_6_a_condition_variable_wakes_its_waiter
    mutex, condition = Mutex.new, ConditionVariable.new
    Pelton.run do
      waiting = Pelton.spawn { mutex.synchronize { condition.wait(mutex) } && @log << :woken }
      Pelton.spawn { mutex.synchronize { condition.signal } }
      waiting.await
    end

    assert_equal [:woken], @log
  end

  # 7. An unblock looks the sleeper up when it is called: later it could wake the fiber from its next sleep.
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
      Pelton.next_tick { 2.times { |i| queue << i } } # the first push has woken the task, the second finds no sleeper
      task.await
    end

    assert_equal [0, 1, Pelton::TimeoutError], @log
  end

  # 8. When no fiber can be made, the error strikes the fiber that wants to park, and no other.
  def test_rule_8_a_worker_that_cannot_be_made_is_an_error_of_the_fiber_that_parks
    # Memory is to run out for fibers alone, so the program frees slots for objects first. With none left to raise an
    # error with, Ruby 3.1 aborts, and Ruby 3.3 spins for ever and ignores TERM, without Pelton, too: the deadline's
    # KILL ends it.
    assert_equal "true\ntrue\n3000\n[0, 0]\n",
      ruby_output(<<~RUBY, env: {"MALLOC_TOP_PAD_" => "67108864"}, deadline: 60)
        require "pelton"
        {0 => 300_000, 50 => 100_000, 130 => 30_000, 290 => 10_000, 600 => 5_000}.each do |size, count|
          Array.new(count) { "x" * size }
        end
        GC.start
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
  end

  # 9. A switch can end with three exceptions: the switch's own error, one that was raised in this fiber, and an
  #    interrupt.
  def test_rule_9_the_three_outcomes_of_a_failed_switch_are_told_apart
    Pelton.run do
      parked = nil
      Pelton.spawn { parked = Fiber.current and logging_exceptions { sleep } }
      Pelton.next_tick { parked.raise(IOError) } # by Fiber#raise: the callback is lost, the fiber is not
      logging_exceptions { sleep 0.005 }
      @log << :main
    end

    assert_equal [IOError, :main], @log
  end

  # 10. Objects that C refers to while it runs are marked.
  def test_rule_10_objects_that_c_refers_to_survive_collections
    # In a process of its own, where little is loaded and collections are quick. Without the watchdog, because each line
    # of its reports would cost collections.
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

  # Making a worker runs Ruby code. A fiber that is woken meanwhile must not go to sleep. The trace stands for a trap
  # handler.
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
          Pelton.next_tick {} # so that the fiber does not wait inline
          trace.enable { sleep 0.001 }
          @log << :woken
        end
      }.join
    end

    assert_equal %i[met woken met woken], @log
  end

  def test_results_that_are_not_fetched_yet_survive_a_collection
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
