# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/fault_proxy"
require "pelton"

# Streams among fibers, threads, forks and garbage collections.
class StreamLifeTest < PeltonTest
  LARGE = Random.new(13).bytes(3_000_000).freeze

  # ---- as Ruby's IO has it

  def test_reading_and_writing_without_waiting
    Pelton.run do
      one, other = Pelton::Stream.pair

      assert_equal :wait_readable, one.read_nonblock(5, exception: false)
      assert_raises(IO::EAGAINWaitReadable) { one.read_nonblock(5) }
      other.write("abc")
      turn

      assert_equal "ab", one.read_nonblock(2)
      assert_equal 3, one.write_nonblock("xyz")
      1000.times { one.write_nonblock("x" * 100_000, exception: false) }

      assert_equal 1_048_576, one.pending

      assert_equal :wait_writable, one.write_nonblock("x", exception: false)
      assert_raises(IO::EAGAINWaitWritable) { one.write_nonblock("x") }

      assert_equal "c", one.read_nonblock(5)
      one.abort
    end
  end

  def test_closing_for_reading_alone
    Pelton.run do
      one, other = Pelton::Stream.pair
      one.close_read

      assert_nil one.read_nonblock(5, exception: false)
      assert_raises(EOFError) { one.read_nonblock(5) }
      one.write("x")

      assert_equal "x", other.readpartial(5)
    end
  end

  # ---- fibers that share a stream

  def test_reads_of_several_fibers_take_turns
    got = []
    Pelton.run do
      one, other = Pelton::Stream.pair
      readers = [
        Pelton.spawn { got << one.read(6) },
        Pelton.spawn { got << one.gets },
        Pelton.spawn { got << one.readpartial(2) },
        Pelton.spawn { got << one.read(3) }
      ]
      turn
      "abcdefline\nxy123".each_char do |char|
        other.write(char)
        turn
      end
      readers.each(&:await)
    end
    assert_equal ["abcdef", "line\n", "x", "y12"], got
  end

  def test_a_reader_that_is_cancelled_or_late_passes_its_turn_on
    got = []
    Pelton.run do
      one, other = Pelton::Stream.pair
      first = Pelton.spawn { one.read(10) }
      second = Pelton.spawn { got << one.read(10) }
      late = Pelton.spawn { one.read(10, timeout: 0.005) }
      last = Pelton.spawn { got << one.gets }
      turn
      other.write("abc")
      turn
      assert_raises(Pelton::TimeoutError) { late.await }
      second.cancel
      turn
      first.cancel # what it had received is there for the next
      turn
      other.write("d\n")
      last.await
    end
    assert_equal ["abcd\n"], got
  end

  def test_each_write_stays_together
    received = nil
    Pelton.run do
      one, other = Pelton::Stream.pair
      writers = "abc".each_char.map { |char| Pelton.spawn { one.write(char * 1_000_000) } }
      reader = Pelton.spawn { received = other.read }
      writers.each(&:await)
      one.close
      reader.await
    end
    assert_equal %w[a b c].map { |char| char * 1_000_000 }, received.scan(/a+|b+|c+/)
  end

  def test_writers_wait_while_much_is_queued
    log = []
    Pelton.run do
      one, other = Pelton::Stream.pair
      writer = Pelton.spawn do
        4.times { |i| one.write(LARGE) && log << i }
        one.close
      end
      5.times { turn }
      assert_empty log
      assert_operator one.pending, :<=, LARGE.bytesize
      4.times { assert_equal LARGE, other.read(LARGE.bytesize) }
      writer.await
      assert_equal "", other.read
    end
    assert_equal [0, 1, 2, 3], log
  end

  def test_whoever_waits_is_told_that_it_was_closed
    errors = []
    Pelton.run do
      one, _other = Pelton::Stream.pair
      waiting = [
        Pelton.spawn { one.gets },
        Pelton.spawn { one.read(5) },
        Pelton.spawn { one.write(LARGE) },
        Pelton.spawn { one.flush }
      ]
      3.times { turn }
      one.close
      waiting.each do |task|
        task.await
      rescue => error
        errors << error.class
      end
      one.abort
    end
    assert_equal [Pelton::ClosedError] * 4, errors
  end

  def test_two_sides_in_one_reactor_talk_without_end
    Pelton.run do
      one, other = Pelton::Stream.pair
      Pelton.spawn do
        while (line = other.gets)
          other.write(line.upcase)
        end
        other.close
      end
      500.times do |i|
        one << "line " << i << "\n"
        assert_equal "LINE #{i}\n", one.gets
      end
      one.close_write
      assert_nil one.gets
    end
  end

  # A fiber whose data is always ready lets others run.
  def test_a_greedy_reader_lets_others_run
    ticks = 0
    Pelton.run do
      one, other = Pelton::Stream.pair
      other.write("x" * 100_000)
      Pelton.spawn { loop { turn && ticks += 1 } }.then do |ticker|
        100_000.times { one.readpartial(1) }
        ticker.cancel
      end
    end
    assert_operator ticks, :>, 100
  end

  # ---- lifetimes

  # Objects that C refers to are not moved, also while nothing refers to them but the user.
  def test_streams_stay_where_they_are
    skip "no compaction here" unless GC.respond_to?(:compact)
    Pelton.run do
      pairs = Array.new(200) { Pelton::Stream.pair }
      listener = Pelton.listen("127.0.0.1", 0)
      GC.verify_compaction_references(expand_heap_option => true, :toward => :empty)
      got = +""
      pairs.each { |one, _| one.on_data { |bytes| got << bytes } }
      GC.start
      pairs.each { |_, other| other.write("x") && other.close }
      accepted = Pelton.spawn { listener.accept }
      Pelton.connect("127.0.0.1", listener.port)
      assert_kind_of Pelton::Stream, accepted.await
      turn until pairs.all? { |one, _| one.closed? }
      assert_equal "x" * 200, got
      listener.close
    end
  end

  def test_what_was_written_to_a_stream_that_nobody_keeps_is_sent
    received = []
    peers = nil
    Pelton.run do
      peers = Array.new(20) { unkept(LARGE) }
      GC.start
      received = peers.map { |peer| Thread.new { peer.read(LARGE.bytesize) } }
    end
    assert_equal [LARGE], received.map(&:value).uniq
  ensure
    peers.each(&:close)
  end

  def test_a_closed_stream_that_nobody_keeps_sends_its_rest
    received = nil
    Pelton.run do
      own, peer = UNIXSocket.pair
      own.autoclose = false
      Pelton::Stream.for_fd(own.fileno).tap { |stream| stream.later.write(LARGE) }.close
      GC.start
      received = Thread.new { peer.read }
    end
    assert_equal LARGE, received.value
  end

  def test_streams_that_nobody_keeps_are_closed_with_their_descriptors
    before = descriptors
    Pelton.run do
      400.times { Pelton::Stream.pair.first.write("x") }
      turn
      eventually("the collection") { GC.start || descriptors < before + 100 }
    end
  end

  def test_what_waits_survives_collections
    Pelton.run do
      one, other = Pelton::Stream.pair
      reader = Pelton.spawn { [one.gets, one.read(3), one.readpartial(10, +"")] }
      failing = one.write("unsent " * 100_000) { flunk }
      failing.errback {}
      collect
      other.write("li", "ne\n")
      collect
      other.write("abc")
      collect
      other.write("rest")
      result = reader.await
      closed = []
      one.on_close { |error| closed << error }
      one.abort
      collect
      assert_equal ["line\n", "abc", "rest"], result
      assert_equal :failed, failing.state
      assert_equal [nil], closed
    end
  end

  def test_a_stream_of_one_run_goes_on_in_the_next
    one, other = Pelton::Stream.pair
    Pelton.run { one.write("first") }
    assert_equal "first", other.readpartial(10)
    Pelton.run { assert_equal "back", other.write("back") && one.readpartial(10) }
  end

  def test_run_ends_although_a_peer_is_still_open
    stream = nil
    assert_equal 1, Pelton.run {
      stream, = Pelton::Stream.pair
      stream.write("x")
      1
    }
    refute_predicate stream, :closed?
  end

  # ---- other threads, other processes

  def test_another_thread_is_refused
    one, other = Pelton::Stream.pair
    other.write("x")
    %i[gets close abort flush].each do |name|
      assert_match(/thread/, Thread.new { assert_raises(Pelton::Error) { one.public_send(name) } }.value.message)
    end
    assert_equal "x", one.readpartial(1)
  end

  # The epoll descriptor is shared with the parent: the child must not take the parent's streams out of it.
  def test_a_child_neither_uses_nor_harms_its_parents_streams
    Pelton.run do
      one, other = Pelton::Stream.pair
      one.on_data { |bytes| (@got ||= +"") << bytes }
      child = fork do
        told = [one, other].map { |stream| assert_raises(Pelton::ClosedError) { stream.write("child's") }.message }
        one.close
        GC.start
        answer = Pelton.run { Pelton::Stream.pair.then { |mine, its| mine.write("own") && its.readpartial(10) } }
        exit!(told.all?(/belongs to the parent/) && one.closed? && answer == "own")
      end
      Process.wait(child)
      assert_predicate $?, :success?
      other.write("still here")
      turn until @got
      assert_equal "still here", @got
      one.close
    end
  end

  # ---- with Ruby's own IO

  def test_copy_stream
    Pelton.run do
      one, other = Pelton::Stream.pair
      Tempfile.create do |file|
        file.write(LARGE)
        file.rewind
        sender = Pelton.spawn { IO.copy_stream(file, one).tap { one.close } }
        Tempfile.create do |copy|
          copy.binmode
          assert_equal LARGE.bytesize, IO.copy_stream(other, copy)
          assert_equal LARGE, IO.binread(copy.path)
        end
        assert_equal LARGE.bytesize, sender.await
      end
    end
  end

  def test_each_line
    one, other = Pelton::Stream.pair
    other.write("one\ntwo\nthree")
    other.close
    lines = []
    assert_same one, one.each_line(chomp: true) { |line| lines << line }
    assert_equal %w[one two three], lines
    assert_empty one.each_line.to_a
    assert_predicate one, :eof?
  end

  def test_eof
    one, other = Pelton::Stream.pair
    assert_raises(Pelton::TimeoutError) { one.eof?(timeout: 0.001) }
    other.write("x")
    refute_predicate one, :eof?
    assert_equal "x", one.readpartial(5)
    other.close
    assert_predicate one, :eof?
  end

  def test_a_pipe_is_a_stream
    Pelton.run do
      reader, writer = IO.pipe.map { |io| Pelton::Stream.for_fd(io.tap { io.autoclose = false }.fileno) }
      sender = Pelton.spawn { writer.write(LARGE) && writer.close }
      assert_equal LARGE, reader.read
      sender.await
      reader.close
    end
  end

  def test_what_is_no_stream_is_refused_and_stays_the_callers
    File.open(__FILE__) do |file|
      if Pelton.stats[:backend] == :epoll
        error = assert_raises(Pelton::ConnectionError) { Pelton::Stream.for_fd(file.fileno) }
        assert_equal Errno::EPERM::Errno, error.errno
      end
      assert_equal "#", file.read(1)
    end
    assert_equal Errno::EBADF::Errno, assert_raises(Pelton::ConnectionError) { Pelton::Stream.for_fd(9999) }.errno
  end

  # The system tells nobody that it was closed, or tells it again and again: the loop neither ends nor spins.
  def test_a_descriptor_that_somebody_else_closed
    own, peer = UNIXSocket.pair
    stream = Pelton::Stream.for_fd(own.fileno)
    Pelton.run do
      reading = Pelton.spawn { stream.readpartial(1, timeout: 0.02) }
      Pelton::Reactor.current.yield
      own.close
      turns = Pelton.stats[:turns]

      assert_raises(Pelton::TimeoutError, Pelton::ConnectionError) { reading.await }
      sleep 0.01
      assert_operator Pelton.stats[:turns] - turns, :<, 50
      assert_equal Errno::EBADF::Errno, assert_raises(Pelton::ConnectionError) { stream.write("x", timeout: 1) && stream.flush(timeout: 1) }.errno
    end
  ensure
    stream.abort # now: later the number may be another's
    peer.close
  end

  def test_addresses
    server = TCPServer.new("127.0.0.1", 0)
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", server.addr[1])
      assert_equal server.addr[1], stream.remote_address.ip_port
      assert_equal "127.0.0.1", stream.local_address.ip_address
      GC.start # the sockets that were made for asking close nothing
      stream.write("x")
      assert_equal "x", server.accept.readpartial(1)
      stream.close
    end
  ensure
    server.close
  end

  # ---- faults

  def test_a_silent_peer_is_noticed_by_the_timeout
    server = TCPServer.new("127.0.0.1", 0)
    FaultProxy.start(server.addr[1]) do |proxy|
      Pelton.run do
        stream = Pelton.connect("127.0.0.1", proxy.port)
        stream.write("hello")
        peer = server.accept
        assert_equal "hello", peer.readpartial(5)
        proxy.half_open!
        stream.write("anybody?")
        assert_raises(Pelton::TimeoutError) { stream.gets(timeout: 0.02) }
        stream.close
      end
    end
  ensure
    server.close
  end

  private

  def turn = Pelton::Reactor.current.yield || true

  def collect
    turn
    GC.start
    GC.compact if GC.respond_to?(:compact)
    turn
  end

  def expand_heap_option
    GC.method(:verify_compaction_references).parameters.map(&:last).include?(:expand_heap) ? :expand_heap : :double_heap
  end

  def descriptors = Dir.children("/proc/self/fd").size

  # Writes to a stream that is forgotten then; returns the other end.
  def unkept(bytes)
    own, peer = UNIXSocket.pair
    own.autoclose = false
    Pelton::Stream.for_fd(own.fileno).later.write(bytes)
    peer
  end
end
