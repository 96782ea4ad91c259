# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/scheduling"
require "monitor"
require "pelton"
require "tempfile"

# Ruby's own ways to wait, on the scheduler. In most of these tests what is waited for comes from another task of the same
# loop: they end only if the loop goes on meanwhile.
class SchedulerTest < PeltonTest
  include Scheduling

  self.deadline = 15

  def test_sleepers_wake_in_the_order_of_their_time
    log = []
    Pelton.run do
      [0.1, 0.001, 0.05].each { |seconds| Pelton.spawn { sleep(seconds) && log << seconds } }
    end

    assert_equal [0.001, 0.05, 0.1], log
  end

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

  def test_a_queue_that_a_thread_fills
    queue = Queue.new
    values = Pelton.run do
      tasks = Array.new(100) { Pelton.spawn { queue.pop } }
      Pelton.next_tick { Array.new(100) { |i| Thread.new { queue << i } } }
      tasks.map(&:await)
    end

    assert_equal (0..99).to_a, values.sort
  end

  def test_mutex_serves_in_order
    mutex = Mutex.new
    log = []
    Pelton.run do
      mutex.lock
      tasks = Array.new(3) { |i| Pelton.spawn { mutex.synchronize { log << i } } }
      sleep 0
      log << :unlocked && mutex.unlock
      tasks.each(&:await)
    end

    assert_equal [:unlocked, 0, 1, 2], log
  end

  def test_a_cancelled_waiter_of_a_mutex_does_not_lose_the_wake_up
    mutex = Mutex.new
    log = []
    Pelton.run do
      mutex.lock
      first, second = %i[first second].map { |name| Pelton.spawn { mutex.synchronize { log << name } } }
      sleep 0
      mutex.unlock # wakes the first
      first.cancel
      second.await
    end

    assert_equal %i[first second], log
    refute_predicate mutex, :locked?
  end

  def test_monitor
    monitor = Monitor.new
    log = []
    Pelton.run do
      Pelton.spawn { monitor.synchronize { log << :inside } }
      monitor.synchronize { monitor.synchronize { sleep(0) && log << :held } }
    end

    assert_equal %i[held inside], log
  end

  def test_condition_variable
    mutex = Mutex.new
    condition = ConditionVariable.new
    signalled = false
    release = -> { mutex.synchronize { (signalled = true) && condition.signal } }
    beside(release) { mutex.synchronize { condition.wait(mutex) until signalled } }

    assert signalled
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

  def test_an_error_in_a_fiber_of_schedule_is_reported
    errors = []
    Pelton.on_error { |error| errors << error.message }
    Pelton.run { Fiber.schedule { raise "oh" } }

    assert_equal ["oh"], errors
  ensure
    Pelton.on_error
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

  # Ruby runs an external enumerator's block in a fiber that may not wait for the scheduler.
  def test_an_external_enumerator_stops_the_loop
    log = []
    Pelton.run do
      Pelton.spawn { log << :other }
      Enumerator.new { |yielder| sleep(0.01) && yielder << 1 }.next
      log << :next
    end

    assert_equal %i[next other], log
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

  def test_fiber_interrupt
    Pelton.run do
      fiber = nil
      task = Pelton.spawn { (fiber = Fiber.current) && sleep }
      sleep 0

      assert scheduler.fiber_interrupt(fiber, IOError.new("closed"))
      assert_raises(IOError) { task.await }
      refute scheduler.fiber_interrupt(Fiber.new {}, IOError.new)
    end
  end

  def test_io_close
    reader, writer = IO.pipe
    descriptor = reader.dup.tap { |io| io.autoclose = false }.fileno
    Pelton.run do
      task = Pelton.spawn { reader.read(1) }
      sleep 0
      Pelton.close(reader)

      assert_raises(IOError) { task.await }
      assert scheduler.io_close(descriptor) # as Ruby 4 calls it
      assert_raises(Errno::EPIPE) { writer.syswrite("x") }
      assert_raises(Errno::EBADF) { scheduler.io_close(descriptor) }
    end
  end

  def test_blocking_operation_wait
    gate = Queue.new
    thread = nil
    value = beside(-> { gate << 1 }) { scheduler.blocking_operation_wait(-> { (thread = Thread.current) && gate.pop }) }

    assert_equal 1, value
    refute_same Thread.current, thread
    error = assert_raises(KeyError) { Pelton.run { scheduler.blocking_operation_wait(-> { raise KeyError, "oh" }) } }
    assert_equal "oh", error.message
  end

  # Its memory is the caller's.
  def test_a_cancelled_blocking_operation_is_waited_for
    gate = Queue.new
    log = []
    Pelton.run do
      task = Pelton.spawn do
        scheduler.blocking_operation_wait(-> { gate.pop && log << :operation })
      ensure
        log << :ensure
      end
      sleep 0
      task.cancel
      sleep 0.01
      log << :cancelled
      gate << 1
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_equal %i[cancelled operation ensure], log
  end

  def test_address_resolve
    Pelton.run do
      assert_includes ["127.0.0.1", "::1"], scheduler.address_resolve("localhost").first
      assert_nil scheduler.address_resolve("no-such-name.invalid")
    end
  end

  def test_pread_and_pwrite
    Tempfile.create do |file|
      file.write("hello world") && file.flush
      buffer = buffer_of(8)
      Pelton.run do
        assert_equal 5, scheduler.io_pread(file, buffer, 0, 6) # (length, from) in Ruby 3.1
        assert_equal "world", buffer.get_string(0, 5)
        assert_equal 0, scheduler.io_pread(file, buffer, 0, 100)
        assert_equal 2, scheduler.io_pwrite(file, buffer, 2, 0)
        assert_equal "wollo world", File.read(file.path)
        assert_equal(-Errno::ESPIPE::Errno, scheduler.io_pread(IO.pipe[0], buffer, 0, 0))
      end
    end
  end

  # (from, length, offset) from Ruby 3.2 on.
  def test_pread_and_pwrite_with_an_offset
    skip "IO::Buffer's order of offset and length is another" if IO::Buffer.const_defined?(:VERSION) && IO::Buffer::VERSION >= 3
    Tempfile.create do |file|
      file.write("hello world") && file.flush
      buffer = buffer_of(8)
      Pelton.run do
        assert_equal 6, scheduler.io_pread(file, buffer, 0, 0, 2)
        assert_equal "\0\0hello ", buffer.get_string
        assert_equal 3, scheduler.io_pwrite(file, buffer, 8, 3, 5)
        assert_equal "hello wolo ", File.read(file.path)
      end
    end
  end

  def test_hooks_block_in_a_child_after_a_fork
    output = ruby_output(<<~RUBY, options: %w[-rpelton -rtimeout])
      Pelton.run do
        pid = fork do
          reader, writer = IO.pipe
          Thread.new { sleep 0.01; writer << "x" }
          queue = Queue.new
          Thread.new { sleep 0.01; queue << :popped }
          late = Timeout.timeout(0.01) { sleep } rescue $!.class
          mutex = Mutex.new
          waiting = Thread.new { mutex.synchronize { } } if mutex.lock
          mutex.unlock
          log = []
          Fiber.schedule { log << :scheduled; sleep 0.001; puts "later" }
          p reader.read(1), queue.pop, late, log, waiting.join.status, system("true"), Pelton.offload { 5 }
          p Pelton.select([reader], nil, nil, timeout: 0.01), Fiber.scheduler.yield, Fiber.scheduler.io_close(reader)
          p Fiber.scheduler.fiber_interrupt(Fiber.current, nil), Addrinfo.tcp("localhost", 80).ip?
          p Pelton.run { sleep 0.01; :run }
        end
        Process.wait(pid)
        p $?.success?
      end
    RUBY

    lines = output.lines(chomp: true)
    later = lines.index("later") # in the first wait that lasts that long, run at the latest

    assert_equal "later", lines.delete_at(later)
    assert_equal %w["x" :popped Timeout::Error [:scheduled] false true 5 nil nil false false true :run true], lines
    assert_operator later, :<=, lines.index(":run")
  end

  def test_a_blocking_wait_leaves_nothing_behind
    reactor = Pelton::Reactor.current
    100.times { reactor.kernel_sleep(0.000001) }

    assert_equal 0, reactor.stats[:ready]
  end

  # Ruby calls its fiber a blocking one, but Pelton's own operations park even there.
  def test_an_operation_in_an_external_enumerator
    log = []
    Pelton.run do
      Pelton.add_timer(0.001) { log << :timer }
      Enumerator.new { |yielder| yielder << Fiber.scheduler.kernel_sleep(0.01) }.next
      log << :awake
    end

    assert_equal %i[timer awake], log
  end

  private

  def scheduler = Fiber.scheduler
end
