# frozen_string_literal: true

require_relative "../helper"

class EventMachineWatchTransportTest < EventMachineTest
  def setup
    @reader, @writer = IO.pipe
  end

  def teardown
    [@reader, @writer].each(&:close)
    super
  end

  def test_notify_readable_is_called_when_there_is_data
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
      assert_equal 0, connection.get_outbound_data_size
      @writer.write("data")
    end

    assert_equal ["data", :unbind], log
    refute_predicate @reader, :closed?
  end

  def test_notify_writable_is_called_until_it_is_turned_off
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

  def test_a_callback_that_waits_is_not_called_again_meanwhile
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

  def test_a_connection_that_is_closed_leaves_the_descriptor_open
    log = []
    em do
      connection = EM.watch(@reader, handler(notify_readable: -> { log << :readable },
        unbind: -> { log << :unbind && EM.stop }))
      connection.notify_readable = true
      @writer.write("data")
      connection.close_connection
    end

    assert_equal [:unbind], log
    assert_equal "data", @reader.read_nonblock(9)
  end

  def test_the_descriptor_is_watched_when_an_io_without_autoclose_is_closed
    log = []
    reader = @reader
    em do
      io = IO.for_fd(@reader.fileno, autoclose: false)
      EM.watch(io, handler(
        notify_readable: -> { (log << reader.read_nonblock(1)) && io.close.nil? && (detach if log.size == 2) },
        unbind: -> { log << :unbind && EM.stop }
      )) { |connection| connection.notify_readable = true }
      @writer.write("ab")
    end

    assert_equal ["a", "b", :unbind], log
  end

  def test_the_watch_ends_when_its_descriptor_is_closed
    reader, writer = IO.pipe
    log = []
    em do
      EM.watch(reader, handler(notify_readable: -> { log << :readable && reader.close }, unbind: -> {
        log << :unbind &&
              EM.stop
      })) do |connection|
        connection.notify_readable = true
      end
      writer.write("a")
    end

    assert_equal [:readable, :unbind], log
  ensure
    writer.close
  end

  def test_other_connections_cannot_be_watched
    em do
      connection = EM.connect("127.0.0.1", serve)

      assert_raises(RuntimeError) { connection.notify_readable = true }
      refute_predicate connection, :notify_readable?
      EM.stop
    end
  end
end
