# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"
require "pelton"

# IOs that are closed while fibers or threads wait for them: the hook io_close, and Ruby's own interrupts.
class SchedulerCloseTest < PeltonTest
  include Scheduling

  self.deadline = 15

  def test_closing_an_io_that_other_tasks_wait_for
    Pelton.run do
      reader = Pelton.spawn { @here.readpartial(10) }
      waiter = Pelton.spawn { @here.wait_readable(20) }
      sleep 0
      Pelton.close_io(@here)

      assert_raises(IOError) { reader.await }
      (RUBY_VERSION < "4.0") ? assert_same(@here, waiter.await) : assert_raises(IOError) { waiter.await }
      assert_nil Pelton.close_io(@here)
    end
  end

  def test_closing_a_listener_ends_accept
    Pelton.run do
      server = TCPServer.new("127.0.0.1", 0)
      task = Pelton.spawn { server.accept }
      sleep 0
      Pelton.close_io(server)

      assert_kind_of StandardError, assert_raises(IOError, SystemCallError) { task.await }
    end
  end

  # From 3.2 on close waits until the thread has left the IO. Ruby calls the hook unblock even when a blocking fiber
  # closes it.
  def test_closing_an_io_that_a_thread_reads
    [false, true].each do |blocking|
      reader, = IO.pipe
      thread = Thread.new { reader.read(1) }
      thread.report_on_exception = false
      Pelton.run do
        sleep 0.001 until thread.stop?
        Fiber.new(blocking: blocking) { reader.close }.resume
      end

      assert_raises(IOError) { thread.value }
    end
  end

  def test_closing_by_pelton_in_a_blocking_fiber
    Pelton.run do
      reader = Pelton.spawn { @here.read(1) }
      sleep 0
      Fiber.new(blocking: true) { Pelton.close_io(@here) }.resume

      assert_predicate @here, :closed?
      assert_raises(IOError) { reader.await }
    end
  end

  # Ruby notifies the scheduler from 4.0 on.
  def test_closing_an_io_that_other_tasks_read
    skip "Ruby does not wake the readers" if RUBY_VERSION < "4.0"
    Pelton.run do
      readers = [-> { @here.read(1) }, -> { @here.gets }, -> { @here.wait_readable },
        -> { IO.copy_stream(@here, File::NULL) }].map { |read| Pelton.spawn(&read) }
      sleep 0
      @here.close

      readers.each { |reader| assert_raises(IOError) { reader.await } }
    end
  end

  def test_closing_in_a_thread_an_io_that_a_task_reads
    skip "Ruby does not wake the reader" if RUBY_VERSION < "4.0"
    Pelton.run do
      reader = Pelton.spawn { @here.read(1) }
      sleep 0
      Thread.new { @here.close }.join

      assert_raises(IOError) { reader.await }
    end
  end

  # From 3.2 on Ruby interrupts the whole thread instead of the writers, and close waits until they have left the IO.
  def test_closing_an_io_that_other_tasks_write_to
    skip "Ruby 3.1 does not wake the writers" if RUBY_VERSION < "3.2"
    Pelton.run do
      writers = Array.new(2) { Pelton.spawn { @here.write("x" * 10_000_000) } }
      other = Pelton.spawn { @there.wait_writable && @there.wait_readable }
      sleep 0
      @here.close

      writers.each { |writer| assert_raises(IOError) { writer.await } }
      assert_same @there, other.await # the end of the stream
    end
  end

  def test_closing_an_io_that_a_cancelled_task_writes_to
    Pelton.run do
      writer = Pelton.spawn { @here.write("x" * 10_000_000) }
      sleep 0
      writer.cancel
      Pelton.close_io(@here)

      assert_raises(Pelton::Cancelled) { writer.await }
      assert_equal :on, sleep(0).then { :on }
    end
  end

  def test_closing_by_pelton_an_io_that_other_tasks_write_to
    Pelton.run do
      writer = Pelton.spawn { @here.write("x" * 10_000_000) }
      sleep 0
      Pelton.close_io(@here)

      assert_raises(IOError) { writer.await }
    end
  end
end
