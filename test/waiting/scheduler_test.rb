# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/scheduling"
require "pelton"
require "tempfile"

# Ruby's own ways to wait, on the scheduler. In most of these tests another task of the same loop causes the awaited
# event: so they end only if the loop goes on meanwhile.
class SchedulerTest < PeltonTest
  include Scheduling

  self.deadline = 15

  def test_queue
    queue = Queue.new
    value = beside(-> { queue << 1 }) { queue.pop }

    assert_equal 1, value
    assert_nil(beside(-> { queue.close }) { queue.pop })
  end

  def test_a_full_queue
    queue = SizedQueue.new(1)
    queue << 1
    beside(-> { queue.pop }) { queue << 2 }

    assert_equal 2, queue.pop
  end

  def test_condition_variable_with_a_timeout
    mutex = Mutex.new
    log = []
    Pelton.run do
      Pelton.spawn { log << :other }
      mutex.synchronize { ConditionVariable.new.wait(mutex, 0.01) && log << :over }

      assert_predicate mutex, :try_lock
    end

    assert_equal %i[other over], log
  end

  def test_thread
    gate = Queue.new
    thread = Thread.new { gate.pop }

    assert_equal(:value, beside(-> { gate << :value }) { thread.value })
    assert_raises(Timeout::Error) { Pelton.run { Timeout.timeout(0.01) { Thread.new { sleep }.join } } }
    failing = Thread.new { gate.pop && raise(KeyError, "oh") }
    failing.report_on_exception = false
    error = assert_raises(KeyError) { beside(-> { gate << 1 }) { failing.join } }
    assert_equal "oh", error.message
  end

  def test_fibers_of_schedule_begin_at_once
    log = []
    Pelton.run do
      fiber = Fiber.schedule { log << :begin && sleep(0) && log << :end }
      log << fiber.alive?
    end

    assert_equal [:begin, true, :end], log
  end

  def test_a_thread_that_only_sets_the_scheduler
    log = []
    Thread.new do
      Fiber.set_scheduler(Pelton::Reactor.current)
      [0.1, 0.01].each { |seconds| Fiber.schedule { sleep(seconds) && log << seconds } }
      log << :end
    end.join

    assert_equal [:end, 0.01, 0.1], log
  end

  def test_a_scheduler_is_closed_when_it_is_taken_away_and_survives_run
    log = []
    Thread.new do
      Fiber.set_scheduler(Pelton::Reactor.current)
      Fiber.schedule { sleep(0.01) && log << :first }
      log << Pelton.run { :run }
      Fiber.schedule { sleep(0.01) && log << :second }
      Fiber.set_scheduler(nil)
      log << :closed
    end.join

    assert_equal %i[first run second closed], log
  end

  # Before 3.3 Ruby runs an external enumerator's block in a blocking fiber, which calls no hooks.
  def test_an_external_enumerator_stops_the_loop_or_parks
    log = []
    Pelton.run do
      Pelton.spawn { log << :other }
      Enumerator.new { |yielder| sleep(0.01) && yielder << 1 }.next
      log << :next
    end

    assert_equal (RUBY_VERSION >= "3.3") ? %i[other next] : %i[next other], log
  end

  def test_yield_lets_others_run
    log = []
    Pelton.run do
      Pelton.spawn { log << :other }
      scheduler.yield
      log << :self
    end

    assert_equal %i[other self], log
  end

  def test_address_resolve
    Pelton.run do
      assert_includes ["127.0.0.1", "::1"], scheduler.address_resolve("localhost").first
      assert_nil scheduler.address_resolve("no-such-name.invalid")
    end
  end

  # Until 3.4 Ruby goes on to call the parent's reactor. From 4.0 on a child has no scheduler.
  def test_hooks_block_in_a_child_after_a_fork
    output = ruby_output(<<~RUBY, options: %w[-rpelton -rtimeout])
      Pelton.run do
        pid = fork do
          def scheduler = Fiber.scheduler || Pelton::Reactor.current
          reader, writer = IO.pipe
          Thread.new { sleep 0.01; writer << "x" }
          queue = Queue.new
          Thread.new { sleep 0.01; queue << :popped }
          late = Timeout.timeout(0.01) { sleep } rescue $!.class
          mutex = Mutex.new
          waiting = Thread.new { mutex.synchronize { } } if mutex.lock
          mutex.unlock
          log = []
          scheduler.fiber { log << :scheduled; scheduler.kernel_sleep(0.001); puts "later" }
          p reader.read(1), queue.pop, late, log, waiting.join.status, system("true"), Pelton.offload { 5 }
          p Pelton.select([reader], nil, nil, timeout: 0.01), scheduler.yield, scheduler.io_close(reader)
          p scheduler.fiber_interrupt(Fiber.current, nil), Addrinfo.tcp("localhost", 80).ip?
          p Pelton.run { sleep 0.01; :run }
        end
        Process.wait(pid)
        p $?.success?
      end
    RUBY

    lines = output.lines(chomp: true)
    later = lines.index("later") # it comes in the first wait that lasts long enough, in run at the latest

    assert_equal "later", lines.delete_at(later)
    assert_equal %w["x" :popped Timeout::Error [:scheduled] false true 5 nil nil false false true :run true], lines
    assert_operator later, :<=, lines.index(":run")
  end

  def test_a_blocking_wait_leaves_nothing_behind
    reactor = Pelton::Reactor.current
    100.times { reactor.kernel_sleep(0.000001) }

    assert_equal 0, reactor.stats[:ready]
  end

  # Ruby calls the enumerator's fiber a blocking one, but Pelton's own operations park even there.
  def test_an_operation_in_an_external_enumerator
    log = []
    Pelton.run do
      Pelton.add_timer(0.001) { log << :timer }
      Enumerator.new { |yielder| yielder << Fiber.scheduler.kernel_sleep(0.01) }.next
      log << :awake
    end

    assert_equal %i[timer awake], log
  end

  # Ruby 3.1 would leave it unlocked, and raise a ThreadError instead.
  def test_an_exception_that_ends_a_wait_for_a_condition_finds_the_mutex_locked
    mutex, condition = Mutex.new, ConditionVariable.new
    owned = nil
    Pelton.run do
      task = Pelton.spawn do
        mutex.synchronize do
          condition.wait(mutex)
        ensure
          owned = mutex.owned?
        end
      end
      sleep 0.001
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert owned
    refute_predicate mutex, :locked?
  end

  private

  def scheduler = Fiber.scheduler
end
