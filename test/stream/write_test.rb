# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/fault_proxy"
require_relative "../support/streams"

# Writes: their order, the high-water mark, failures.
class StreamWriteTest < PeltonTest
  include Streams

  def test_write_blocks_are_called_in_order_and_keep_run_going
    log = []
    received = nil
    run_with_pair do |stream, peer|
      stream.write("small") { |bytes| log << bytes }
      stream.write(LARGE.byteslice(0, 1_500_000)) { |bytes| log << bytes }
      stream.write("last") do |bytes|
        log << bytes
        stream.close
      end
      assert_empty log
      received = Thread.new { peer.read }
    end
    assert_equal [5, 1_500_000, 4], log
    assert_equal 1_500_009, received.value.bytesize
  end

  def test_writes_of_several_fibers_are_not_interleaved
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

  # By TCP: the socket takes more than a stream sends at once.
  def test_what_is_corked_leaves_together_however_much_it_is
    Pelton.run do
      with_connection do |stream, peer|
        stream.cork(true)
        assert_equal [1, LARGE.bytesize], ["<", LARGE].map { |string| stream.put(string) }
        rest
        assert_equal :wait_readable, peer.read_nonblock(1, exception: false)
        stream.cork(false)
        received = +""
        received << peer.readpartial(1_000_000) until received.bytesize > LARGE.bytesize

        assert_equal "<#{LARGE}".hash, received.b.hash
      ensure
        peer.close
      end
    end
  end

  def test_a_close_sends_what_can_be_sent_at_once
    run_with_pair do |stream, peer|
      stream.put("x")
      stream.close

      assert_equal "x", peer.read_nonblock(9)
      assert_equal "", peer.read
    end
  end

  def test_writers_wait_above_the_high_water_mark
    log = []
    Pelton.run do
      one, other = Pelton::Stream.pair
      writer = Pelton.spawn do
        4.times { |i| one.write(LARGE) && log << i }
        one.close
      end
      5.times { tick }
      assert_empty log
      assert_operator one.pending, :<=, LARGE.bytesize
      4.times { assert_equal LARGE, other.read(LARGE.bytesize) }
      writer.await
      assert_equal "", other.read
    end
    assert_equal [0, 1, 2, 3], log
  end

  def test_a_write_beyond_twice_the_high_water_mark_fails_and_on_drain_is_called_once
    log = []
    run_with_pair do |stream, peer|
      stream.on_drain { log << :drained }
      stream.later.write(LARGE.byteslice(0, 2_500_000))
      refused = stream.later.write("x")
      refused.errback { |error| log << error.class }
      tick
      assert_equal [Pelton::OverloadError], log
      assert_raises(Pelton::OverloadError) { refused.await }
      full = stream.pending
      reader = Thread.new { peer.read }
      rest until log.size > 1
      assert_operator stream.pending, :<=, 1 << 19
      assert_operator full, :>, 2 << 20
      stream.later.write("y" * 2_000_000).await # above the mark once more
      stream.close
      rest until log.size > 2
      reader.join
    end
    assert_equal [Pelton::OverloadError, :drained, :drained], log
  end

  def test_a_write_that_cannot_be_sent_fails
    log = []
    run_with_pair do |stream, peer|
      unsent = stream.write(LARGE) { flunk }.errback { |error| log << error.class }
      peer.close
      tick until unsent.done?
      stream.write("more") { flunk }.errback { |error| log << error.class }
      tick
      stream.close
      stream.write("after") { flunk }.errback { |error| log << error.class }
      stream.gets { flunk }.errback { |error| log << error.class }
    end
    assert_equal [Pelton::ConnectionError, Pelton::ConnectionError, Pelton::ClosedError, Pelton::ClosedError], log
  end

  def test_a_stalled_peer_resumes
    got = +""
    with_echo_server do |port|
      FaultProxy.start(port) do |proxy|
        Pelton.run do
          stream = Pelton.connect("127.0.0.1", proxy.port)
          stream.write("hello")
          assert_equal "hello", stream.read(5)
          stream.on_data { |data| got << data }
          proxy.stall!
          stream.later.write(LARGE)
          5.times { tick }
          assert_empty got
          proxy.resume
          rest until got.bytesize == LARGE.bytesize
          stream.close
        end
      end
    end
    assert_equal LARGE, got
  end
end
