# frozen_string_literal: true

require "tempfile"
require_relative "../test_helper"
require_relative "../support/streams"

# Streams and garbage collection, runs, threads, forks, and other descriptors.
class StreamLifeTest < PeltonTest
  include Streams

  def test_output_of_an_unreferenced_stream_is_sent
    received = []
    peers = nil
    Pelton.run do
      peers = Array.new(20) { write_unreferenced(LARGE) }
      GC.start
      received = peers.map { |peer| Thread.new { peer.read(LARGE.bytesize) } }
    end
    assert_equal [LARGE], received.map(&:value).uniq
  ensure
    peers.each(&:close)
  end

  def test_a_closed_unreferenced_stream_sends_its_output
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

  def test_unreferenced_streams_close_their_descriptors
    before = descriptors
    Pelton.run do
      400.times { Pelton::Stream.pair.first.write("x") }
      tick
      eventually("the collection") { GC.start || descriptors < before + 100 }
    end
  end

  def test_waiting_reads_and_writes_survive_collections
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

  # ---- runs, threads, processes

  def test_a_stream_survives_from_one_run_to_the_next
    one, other = Pelton::Stream.pair
    Pelton.run { one.write("first") }
    assert_equal "first", other.readpartial(10)
    Pelton.run { assert_equal "back", other.write("back") && one.readpartial(10) }
  end

  def test_an_open_idle_stream_does_not_keep_run_going
    stream = nil
    assert_equal 1, Pelton.run {
      stream, = Pelton::Stream.pair
      stream.write("x")
      1
    }
    refute_predicate stream, :closed?
  end

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
        messages = [one, other].map { |stream| assert_raises(Pelton::ClosedError) { stream.write("child's") }.message }
        one.close
        GC.start
        answer = Pelton.run { Pelton::Stream.pair.then { |mine, its| mine.write("own") && its.readpartial(10) } }
        exit!(messages.all?(/belongs to the parent/) && one.closed? && answer == "own")
      end
      Process.wait(child)
      assert_predicate $?, :success?
      other.write("still here")
      tick until @got
      assert_equal "still here", @got
      one.close
    end
  end

  # ---- descriptors

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
          copy.flush
          assert_equal LARGE, IO.binread(copy.path)
        end
        assert_equal LARGE.bytesize, sender.await
      end
    end
  end

  def test_pipes
    Pelton.run do
      reader, writer = IO.pipe.map { |io| Pelton::Stream.for_fd(io.tap { io.autoclose = false }.fileno) }
      sender = Pelton.spawn { writer.write(LARGE) && writer.close }
      assert_equal LARGE, reader.read
      sender.await
      reader.close
    end
  end

  def test_unsuitable_descriptors_are_refused_and_stay_open
    File.open(__FILE__) do |file|
      if Pelton.stats[:backend] == :epoll
        error = assert_raises(Pelton::ConnectionError) { Pelton::Stream.for_fd(file.fileno) }
        assert_equal Errno::EPERM::Errno, error.errno
      end
      assert_equal "#", file.read(1)
    end
    assert_equal Errno::EBADF::Errno, assert_raises(Pelton::ConnectionError) { Pelton::Stream.for_fd(9999) }.errno
  end

  # The system does not report that the descriptor was closed, or reports it again and again: the loop must not spin.
  def test_a_descriptor_closed_behind_the_streams_back
    own, peer = UNIXSocket.pair
    stream = Pelton::Stream.for_fd(own.fileno)
    Pelton.run do
      reading = Pelton.spawn { stream.readpartial(1, timeout: 0.02) }
      Pelton::Reactor.current.yield
      own.close
      iterations = Pelton.stats[:iterations]

      assert_raises(Pelton::TimeoutError, Pelton::ConnectionError) { reading.await }
      sleep 0.01
      assert_operator Pelton.stats[:iterations] - iterations, :<, 50
      assert_equal Errno::EBADF::Errno,
        assert_raises(Pelton::ConnectionError) { stream.write("x", timeout: 1) && stream.flush(timeout: 1) }.errno
    end
  ensure
    stream.abort # now: later another file may have the descriptor's number
    peer.close
  end

  def test_addresses
    server = TCPServer.new("127.0.0.1", 0)
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", server.addr[1])
      assert_equal server.addr[1], stream.remote_address.ip_port
      assert_equal "127.0.0.1", stream.local_address.ip_address
      GC.start # the Socket objects made for these questions must not close the descriptor
      stream.write("x")
      assert_equal "x", server.accept.readpartial(1)
      stream.close
    end
  ensure
    server.close
  end

  private

  def collect
    tick
    GC.start
    GC.compact if GC.respond_to?(:compact)
    tick
  end

  def descriptors = Dir.children("/proc/self/fd").size

  # Writes to a stream that nothing refers to afterwards. Returns its peer.
  def write_unreferenced(bytes)
    own, peer = UNIXSocket.pair
    own.autoclose = false
    Pelton::Stream.for_fd(own.fileno).later.write(bytes)
    peer
  end
end
