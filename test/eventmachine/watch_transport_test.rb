# frozen_string_literal: true

require_relative "helper"

class EventMachineWatchTransportTest < EventMachineTest
  def setup
    @reader, @writer = IO.pipe
  end

  def teardown
    [@reader, @writer].each(&:close)
    super
  end

  def test_the_program_reads_when_it_is_told
    reader = @reader
    log = []
    em do
      connection = EM.watch(@reader, handler(
        notify_readable: lambda do
          log << reader.read_nonblock(9)
          detach
        end,
        unbind: -> { log << :unbind && EM.stop }
      ))

      refute_predicate connection, :notify_readable?
      assert_predicate connection, :watch_only?
      connection.notify_readable = true
      assert_predicate connection, :notify_readable?
      assert_raises(RuntimeError) { connection.send_data("x") }
      @writer.write("data")
    end

    assert_equal ["data", :unbind], log
    refute_predicate @reader, :closed?
  end

  def test_it_is_told_that_it_may_write_until_it_does_not_want_to
    count = 0
    em do
      connection = EM.watch(@writer, handler(notify_writable: lambda do
        next unless (count += 1) == 3
        self.notify_writable = false
        EM.add_timer(0.005) { EM.stop }
      end))
      connection.notify_writable = true
    end

    assert_equal 3, count
  end

  def test_a_callback_that_waits_is_not_told_again_meanwhile
    log = []
    reader = @reader
    em do
      EM.watch(@reader, handler(notify_readable: lambda do
        log << :in
        sleep 0.01
        log << reader.read_nonblock(1)
        EM.stop if log.size == 4
      end)) { |connection| connection.notify_readable = true }
      @writer.write("ab")
    end

    assert_equal [:in, "a", :in, "b"], log
  end

  def test_a_connection_of_the_loop_is_not_watched
    em do
      connection = EM.connect("127.0.0.1", serve)

      assert_raises(RuntimeError) { connection.notify_readable = true }
      refute_predicate connection, :notify_readable?
      EM.stop
    end
  end
end
