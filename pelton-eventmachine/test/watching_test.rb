# frozen_string_literal: true

require_relative "helper"

class EventMachineWatchingTest < EventMachineTest
  def test_pipes_are_attached_and_closed_with_their_connections
    reader, writer = IO.pipe
    log = []
    em do
      EM.attach(reader, handler(receive_data: ->(data) { log << data }, unbind: -> { log << :end && EM.stop }))
      EM.attach(writer) do |connection|
        connection.send_data("data")
        connection.close_connection_after_writing
      end
    end

    assert_equal ["data", :end], log
    assert_predicate reader, :closed?
    assert_predicate writer, :closed?
  end

  def test_a_detached_descriptor_stays_open
    ours, theirs = UNIXSocket.pair
    em { EM.attach(ours, handler(unbind: -> { EM.stop })) { |connection| assert_equal ours.fileno, connection.detach } }
    ours.write("x")

    assert_equal "x", theirs.readpartial(9)
  ensure
    [ours, theirs].each(&:close)
  end

  def test_a_descriptors_number_is_accepted
    reader, writer = IO.pipe
    data = nil
    em do
      EM.attach(reader.fileno, handler(receive_data: ->(bytes) { (data = bytes) && EM.stop }))
      writer.write("data")
    end

    assert_equal "data", data
  ensure
    [reader, writer].each(&:close)
  end

  def test_mistakes_raise
    em do
      reader, = IO.pipe
      assert_raises(ArgumentError) { EM.attach(reader, handler(notify_readable: -> {})) }
      assert_raises(ArgumentError) { EM.attach(60_000) }
      EM.stop
    end
  end

  def test_the_keyboard_is_standard_input
    assert_equal "typed\n", ruby_output(<<~RUBY, stdin: "typed\n")
      require "pelton/eventmachine"
      EM.run { EM.open_keyboard(Module.new { def receive_data(data) = puts(data); def unbind = EM.stop }) }
    RUBY
  end

  # The descriptor belongs to an IO that nobody refers to.
  def test_the_keyboard_stays_open_when_garbage_is_collected
    assert_equal "typed", ruby_output(<<~RUBY)
      require "pelton/eventmachine"
      reader, writer = IO.pipe
      $stdin.reopen(reader)
      typed = Module.new { def receive_data(data) = EM.stop.then { print(data) } }
      open = ->(depth) { (depth > 0) ? open.call(depth - 1) : EM.open_keyboard(typed) && nil }
      EM.run do
        open.call(20)
        EM.next_tick { GC.start.then { writer.write("typed") } }
        EM.add_timer(5) { EM.stop }
      end
    RUBY
  end
end
