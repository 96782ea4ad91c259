# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton"
require "socket"
require "tempfile"

# Pelton.select, and the hook io_select behind it.
class SchedulerSelectTest < PeltonTest
  self.deadline = 15

  def setup
    @one, @one_end = UNIXSocket.pair
    @two, @two_end = UNIXSocket.pair
  end

  def teardown
    [@one, @one_end, @two, @two_end].each(&:close)
  end

  def test_waits_for_the_first_of_several
    Pelton.run do
      Pelton.spawn { @two_end << "x" }

      assert_equal [[@two], [], []], Pelton.select([@one, @two], nil, nil, timeout: 5)
    end
  end

  def test_returns_all_that_are_ready
    @one_end << "x"
    @two_end << "x"

    assert_equal [[@one, @two], [@one], []], Pelton.run { Pelton.select([@one, @two], [@one], [@two]) }
  end

  def test_nil_when_the_time_is_over
    other = nil
    answers = []
    Pelton.run do
      Pelton.spawn { other = true }
      answers << Pelton.select([@one], nil, nil, timeout: 0.01) until other # one iteration, if the machine is not slow
      answers << Pelton.select([@one], nil, nil, timeout: 0)
    end

    assert_operator answers.size, :>, 1
    assert_equal [nil], answers.uniq
  end

  def test_a_full_socket_is_not_writable_until_it_is_read
    nil while @one.write_nonblock("x" * 100_000, exception: false) != :wait_writable
    Pelton.run do
      assert_nil Pelton.select(nil, [@one], nil, timeout: 0)
      Pelton.spawn { @one_end.readpartial(1_000_000) while Pelton.select([@one_end], nil, nil, timeout: 0) }

      assert_equal [[], [@one], []], Pelton.select([@one], [@one])
    end
  end

  def test_data_in_rubys_buffer_counts
    @one_end << "a\nb\n"
    @two_end << "x"

    assert_equal "a\n", @one.gets
    assert_equal [[@one, @two], [], []], Pelton.run { Pelton.select([@one, @two], nil, nil, timeout: 5) }
  end

  def test_the_end_is_readable
    Pelton.run do
      Pelton.spawn { @one_end.close_write }

      assert_equal [[@one], [], []], Pelton.select([@one], nil, [@one], timeout: 5)
    end
  end

  def test_urgent_data
    server = TCPServer.new("127.0.0.1", 0)
    client = TCPSocket.new("127.0.0.1", server.addr[1])
    accepted = server.accept
    Pelton.run do
      Pelton.spawn { client.sendmsg("!", Socket::MSG_OOB) }

      assert_equal [[], [], [accepted]], Pelton.select([accepted], nil, [accepted], timeout: 5)
    end
  end

  def test_files_are_ready
    Tempfile.create { |file| assert_equal [[file], [], []], Pelton.run { Pelton.select([@one, file], nil, nil) } }
  end

  def test_a_file_need_not_be_waited_for
    Tempfile.create { |file| assert_equal file, Pelton.run { file.wait_readable } }
  end

  def test_objects_that_have_an_io
    holder = Struct.new(:to_io).new(@one)
    @one_end << "x"

    assert_equal [[holder], [], []], Pelton.run { Pelton.select([holder]) }
  end

  def test_mistakes
    closed = UNIXSocket.pair.first.tap(&:close)
    Pelton.run do
      timers = Pelton.stats[:timers]
      assert_raises(IOError) { Pelton.select([@one, closed]) }
      assert_raises(TypeError) { Pelton.select([1]) }
      assert_raises(TypeError) { Pelton.select(@one) }
      assert_nil Pelton.select(nil, nil, nil, timeout: 0.001)
      assert_equal timers, Pelton.stats[:timers]
    end
  end

  def test_several_tasks_and_one_descriptor
    Pelton.run do
      reader = Pelton.spawn { Pelton.select([@one, @two]) }
      waiter = Pelton.spawn { @one.wait_readable && :readable }
      gone = Pelton.spawn { Timeout.timeout(0.001) { Pelton.select([@one, @two]) } }
      assert_raises(Timeout::Error) { gone.await }
      @one_end << "x"

      assert_equal [[@one], [], []], reader.await
      assert_equal :readable, waiter.await
    end
  end

  def test_one_task_reads_and_another_writes
    Pelton.run do
      reader = Pelton.spawn { @one.wait_readable(10) }
      Pelton.spawn { @one.wait_writable }.await
      Pelton::Reactor.current.yield

      refute_predicate reader, :done?
      @one_end << "x"
      assert_same @one, reader.await
    end
  end

  def test_without_a_reactor_it_blocks
    Thread.new { @one_end << "x" }

    assert_equal [[@one], [], []], Pelton.select([@one], nil, nil, timeout: 5)
    assert_nil Pelton.select([@two], nil, nil, timeout: 0.001)
  end

  # IO.select calls a hook from Ruby 3.2 on. Before, it stops the loop.
  def test_ruby_s_own_select
    log = []
    Pelton.run do
      Pelton.spawn { log << :other }
      IO.select([@one], nil, nil, 0.01)
      log << :self
    end

    assert_equal (RUBY_VERSION >= "3.2") ? %i[other self] : %i[self other], log
  end
end
