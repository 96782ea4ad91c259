# frozen_string_literal: true

require "digest"
require_relative "test_helper"
require_relative "support/fault_proxy"
require "pelton"

# Streams in callback style: on_data and its like.
class StreamDeliveryTest < PeltonTest
  LARGE = Random.new(11).bytes(5_000_000).freeze

  def teardown
    Pelton.on_error
  end

  # ---- on_data

  def test_all_bytes_come_in_order_and_then_the_end
    [nil, +""].each do |buffer|
      log = []
      digest = Digest::SHA256.new
      Pelton.run do
        with_pair do |stream, peer|
          stream.on_close { |error| log << [:closed, error] }
          assert_same stream, stream.on_data(buffer) { |bytes|
            assert_same buffer, bytes if buffer
            assert_equal Encoding::BINARY, bytes.encoding unless buffer
            digest << bytes
          }
          peer.write(LARGE)
          peer.close
        end
      end
      assert_equal Digest::SHA256.hexdigest(LARGE), digest.hexdigest
      assert_equal [[:closed, nil]], log
    end
  end

  def test_each_piece_is_a_string_of_its_own
    pieces = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data { |bytes| pieces << bytes }
        peer.write(LARGE)
        peer.close
      end
    end
    assert_equal LARGE, pieces.join
    assert_operator pieces.map(&:bytesize).max, :<=, 65_536
  end

  def test_what_was_read_and_not_asked_for_comes_first
    got = +""
    Pelton.run do
      with_pair do |stream, peer|
        peer.write("line\nfirst")
        peer.flush
        assert_equal "line\n", stream.gets
        stream.on_data { |bytes| got << bytes }
        peer.write(" second")
        peer.close
      end
    end
    assert_equal "first second", got
  end

  def test_an_error_in_the_block_is_reported_and_the_next_piece_comes
    errors = []
    got = []
    Pelton.on_error { |error| errors << error.message }
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data do |bytes|
          got << bytes
          raise "of #{bytes}" if bytes == "one"
        end
        peer.write("one")
        peer.flush
        turn until errors.any?
        peer.write("two")
        peer.close
      end
    end
    assert_equal %w[one two], got
    assert_equal ["of one"], errors
  end

  # It is busy: its next pieces wait, and nobody else's do.
  def test_a_block_that_waits_holds_up_its_own_stream_alone
    log = []
    Pelton.run do
      with_pair do |slow, slow_peer|
        with_pair do |quick, quick_peer|
          waker = Pelton::Operation.new
          slow.on_data do |bytes|
            log << "slow #{bytes}"
            waker.await if bytes == "1"
            log << "slow #{bytes} done"
          end
          quick.on_data do |bytes|
            log << "quick #{bytes}"
            slow_peer.write("2") && slow_peer.flush if bytes == "a"
            waker.succeed if bytes == "b"
          end
          slow_peer.write("1")
          slow_peer.flush
          turn until log.include?("slow 1")
          quick_peer.write("a")
          quick_peer.flush
          turn until log.include?("quick a")
          5.times { turn }
          quick_peer.write("b")
          quick_peer.close
          turn until log.include?("slow 2 done")
          slow_peer.close
        end
      end
    end
    assert_equal ["slow 1", "quick a", "quick b", "slow 1 done", "slow 2", "slow 2 done"], log
  end

  def test_the_block_may_read_what_follows
    got = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data { |bytes| got << bytes << stream.read(4) << stream.gets }
        peer.write("head")
        peer.flush
        turn until got.any?
        later { peer.write("bod") && peer.write("yline\n") && peer.close }
      end
    end
    assert_equal %W[head body line\n], got
  end

  def test_one_stream_gets_a_share_of_each_turn
    turns = Hash.new(0)
    sender = nil
    Pelton.run do
      listener = TCPServer.new("127.0.0.1", 0)
      sender = Thread.new { listener.accept.tap { |socket| 6.times { socket.write(LARGE) } }.close }
      stream = Pelton.connect("127.0.0.1", listener.addr[1])
      stream.on_data { |bytes| turns[Pelton.stats[:turns]] += bytes.bytesize }
    end
    sender.join
    assert_equal 6 * LARGE.bytesize, turns.values.sum
    assert_operator turns.values.max, :<, (1 << 20) + 65_536
  end

  def test_a_stream_is_kept_while_it_waits_for_bytes
    peers = []
    got = +""
    Pelton.run do
      20.times do
        with_pair do |stream, peer|
          stream.on_data { |bytes| got << bytes }
          peers << peer
        end
      end
      GC.start
      peers.each { |peer| peer.write("x") && peer.close }
    end
    assert_equal "x" * 20, got
  end

  # ---- pausing

  def test_nothing_comes_while_it_is_paused
    got = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data do |bytes|
          got << bytes
          stream.pause
        end
        peer.write("one")
        peer.flush
        turn until got.any?
        assert_predicate stream, :paused?
        peer.write("two")
        peer.close
        5.times { turn }
        assert_equal %w[one], got
        stream.resume
        refute_predicate stream, :paused?
        turn until got.size == 2
        assert_equal %w[one two], got
        refute_predicate stream, :closed? # the end is delivered as bytes are
        stream.resume
        turn until stream.closed?
      end
    end
  end

  # The bytes that a read has begun with are its own.
  def test_who_resumes_while_a_fiber_reads_gets_what_follows
    delivered = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data { |bytes| delivered << bytes }
        stream.pause
        reader = Pelton.spawn { stream.gets }
        peer.write("a" * 100_000)
        sleep 0.005
        stream.resume
        sleep 0.002
        peer.write("b\nrest")

        assert_equal [100_002, "b\n"], reader.await.then { |line| [line.size, line[-2..]] }
        sleep 0.002 until delivered.join == "rest"
        stream.close
      end
    end
  end

  def test_a_paused_stream_can_be_read
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data { |bytes| flunk bytes }
        stream.pause
        peer.write("direct")
        peer.flush
        assert_equal "direct", stream.readpartial(100)
        stream.close
      end
    end
  end

  def test_direct_reads_and_on_data_do_not_share
    Pelton.run do
      with_pair do |stream, _peer|
        stream.on_data { |bytes| flunk bytes }
        assert_match(/pause it/, assert_raises(Pelton::Error) { stream.gets }.message)
        stream.close
      end
      with_pair do |stream, peer|
        reader = Pelton.spawn { stream.gets }
        turn
        assert_raises(Pelton::Error) { stream.on_data {} }
        peer.write("line\n")
        peer.close
        assert_equal "line\n", reader.await
      end
    end
  end

  # ---- ends

  def test_a_block_for_the_end_takes_closing_over
    log = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data { |bytes| log << bytes }
        stream.on_close { |error| log << [:closed, error] }
        stream.on_end do
          log << :end
          stream.write("answer")
          stream.close
        end
        peer.write("question")
        peer.close_write
        later { log << peer.read }
      end
    end
    assert_equal ["question", :end], log.first(2)
    eventually { log.size == 4 }
    assert_equal [["answer"], [[:closed, nil]]], log.last(2).partition { |entry| entry == "answer" }
  end

  def test_what_is_queued_at_the_end_is_sent_before_it_closes
    received = nil
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_data { |bytes| stream.later.write(LARGE) }
        peer.write("question")
        peer.close_write
        received = Thread.new { sleep(0.01) && peer.read }
      end
    end
    assert_equal LARGE, received.value
  end

  def test_an_error_comes_after_the_bytes_and_is_told_once
    log = []
    Pelton.run do
      with_connection do |stream, peer|
        stream.on_close { |error| log << [error.class, error.errno] }
        stream.on_end { log << :end }
        peer.write("last")
        turn until (stream.on_data { |bytes| log << bytes } if log.empty?) || log.any?
        turn until log.any?
        reset(peer)
      end
    end
    assert_equal ["last", [Pelton::ConnectionError, Errno::ECONNRESET::Errno]], log
  end

  def test_a_block_may_close_its_own_stream
    log = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_close { |error| log << [:closed, error] }
        stream.on_data do |bytes|
          log << bytes
          stream.close
          assert_predicate stream, :closed?
        end
        peer.write("x" * 200_000)
      rescue Errno::EPIPE, Errno::ECONNRESET
        nil
      end
    end
    assert_equal 1, log.grep(String).size
    assert_equal [:closed, nil], log.last
  end

  def test_a_block_may_close_another_stream_that_has_data
    log = []
    Pelton.run do
      with_pair do |one, one_peer|
        with_pair do |other, other_peer|
          one.on_data { |bytes| log << bytes && other.close }
          other.on_data { |bytes| log << bytes && one.close }
          one.on_close { |error| log << error }
          other.on_close { |error| log << error }
          one_peer.write("data")
          other_peer.write("data")
          one_peer.close
          other_peer.close
        end
      end
    end
    assert_equal ["data", nil, nil], log.sort_by { |entry| entry.to_s.size }.reverse
  end

  def test_a_block_may_stop_the_reactor
    log = []
    assert_equal 5, Pelton.run {
      with_pair do |stream, peer|
        stream.on_close { |error| log << [:closed, error] }
        stream.on_data { Pelton.stop(5) }
        peer.write("x")
        peer.flush
        sleep
      end
    }
    assert_equal [[:closed, nil]], log
  end

  def test_on_close_comes_once_for_each_block_also_afterwards
    log = []
    Pelton.run do
      with_pair do |stream, _peer|
        stream.on_close { log << :first }
        stream.close
        stream.close
        stream.abort
        assert_empty log # never inside the call
        turn
        stream.on_close { log << :late }
        assert_equal [:first], log
      end
    end
    assert_equal [:first, :late], log
    with_pair do |stream, _peer|
      stream.on_close { |error| log << [:blocking, error] }
      stream.close
      assert_equal [:blocking, nil], log.last
    end
  end

  # ---- writing

  def test_blocks_of_writes_are_called_in_order_and_their_reactor_waits_for_them
    log = []
    received = nil
    Pelton.run do
      with_pair do |stream, peer|
        stream.write("small") { |bytes| log << bytes }
        stream.write(LARGE.byteslice(0, 1_500_000)) { |bytes| log << bytes }
        stream.write("last") do |bytes|
          log << bytes
          stream.close
        end
        assert_empty log
        received = Thread.new { peer.read }
      end
    end
    assert_equal [5, 1_500_000, 4], log
    assert_equal 1_500_009, received.value.bytesize
  end

  def test_beyond_twice_the_high_water_mark_a_write_is_refused_and_draining_is_told_once
    log = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.on_drain { log << :drained }
        stream.later.write(LARGE.byteslice(0, 2_500_000))
        refused = stream.later.write("x")
        refused.errback { |error| log << error.class }
        turn
        assert_equal [Pelton::OverloadError], log
        assert_raises(Pelton::OverloadError) { refused.await }
        full = stream.pending
        reader = Thread.new { peer.read }
        rest until log.size > 1
        assert_operator stream.pending, :<=, 1 << 19
        assert_operator full, :>, 2 << 20
        stream.later.write("y" * 2_000_000).await # another fill
        stream.close
        rest until log.size > 2
        reader.join
      end
    end
    assert_equal [Pelton::OverloadError, :drained, :drained], log
  end

  def test_a_write_that_cannot_be_sent_fails
    log = []
    Pelton.run do
      with_pair do |stream, peer|
        unsent = stream.write(LARGE) { flunk }.errback { |error| log << error.class }
        peer.close
        turn until unsent.done?
        stream.write("more") { flunk }.errback { |error| log << error.class }
        turn
        stream.close
        stream.write("after") { flunk }.errback { |error| log << error.class }
        stream.gets { flunk }.errback { |error| log << error.class }
      end
    end
    assert_equal [Pelton::ConnectionError, Pelton::ConnectionError, Pelton::ClosedError, Pelton::ClosedError], log
  end

  def test_a_closed_stream_does_not_wait_for_ever_for_a_peer_that_does_not_read
    log = []
    Pelton.run do
      with_pair do |stream, _peer|
        stream.timeout = 0.02
        stream.on_close { |error| log << error.class }
        stream.write(LARGE) { flunk }.errback { |error| log << error.class }
        stream.close
        turn
        assert_empty log
      end
    end
    assert_equal [Pelton::TimeoutError] * 2, log
    with_pair do |stream, peer|
      stream.timeout = 0.02
      assert_raises(Pelton::TimeoutError) { stream.write(LARGE) }
      assert_raises(Pelton::TimeoutError) { stream.close }
      assert_predicate stream, :closed?
      assert_operator peer.read.bytesize, :<, LARGE.bytesize
    end
  end

  def test_what_abort_drops_fails
    log = []
    Pelton.run do
      with_pair do |stream, _peer|
        stream.write(LARGE) { flunk }.errback { |error| log << error.class }
        stream.abort
      end
    end
    assert_equal [Pelton::ClosedError], log
  end

  def test_reads_with_blocks_are_answered_in_the_order_of_the_calls
    got = []
    Pelton.run do
      with_pair do |stream, peer|
        stream.gets { |line| got << line }
        stream.read(3) { |bytes| got << bytes }
        stream.gets { |line| got << line }
        later { "one\nthrtwo\n".each_char { |char| peer.write(char) } && peer.close }
      end
    end
    assert_equal %W[one\n thr two\n], got
  end

  # ---- faults

  def test_a_connection_that_is_cut_in_the_middle
    log = []
    failures = []
    echo do |port|
      FaultProxy.start(port) do |proxy|
        proxy.cut_after(100_000)
        Pelton.run do
          stream = Pelton.connect("127.0.0.1", proxy.port)
          bytes = 0
          stream.on_data { |data| bytes += data.bytesize }
          stream.on_close { |error| log << bytes << error.errno }
          stream.write(LARGE) {}.errback { |error| failures << error.class }
        end
      end
    end
    assert_operator log.first, :<=, 100_000
    assert_includes [Errno::ECONNRESET::Errno, Errno::EPIPE::Errno], log[1]
    assert_empty failures - [Pelton::ConnectionError]
  end

  def test_a_stalled_peer_goes_on_where_it_was
    got = +""
    echo do |port|
      FaultProxy.start(port) do |proxy|
        Pelton.run do
          stream = Pelton.connect("127.0.0.1", proxy.port)
          stream.write("hello")
          assert_equal "hello", stream.read(5)
          stream.on_data { |data| got << data }
          proxy.stall!
          stream.later.write(LARGE)
          5.times { turn }
          assert_empty got
          proxy.resume
          rest until got.bytesize == LARGE.bytesize
          stream.close
        end
      end
    end
    assert_equal LARGE, got
  end

  private

  def turn = Pelton::Reactor.current.yield

  # A turn that lets other threads run: one that only looks keeps the GVL.
  def rest = sleep(0.001)

  def with_pair
    own, peer = UNIXSocket.pair
    own.autoclose = false
    (@peers ||= []) << peer
    yield Pelton::Stream.for_fd(own.fileno), peer
  end

  def with_connection
    listener = TCPServer.new("127.0.0.1", 0)
    stream = Pelton.connect("127.0.0.1", listener.addr[1])
    yield stream, listener.accept
  ensure
    listener.close
  end

  def reset(socket)
    socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
    socket.close
  end

  def later
    Thread.new { sleep(0.005) && yield }
  end

  # A server that echoes one connection.
  def echo
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      socket = server.accept
      IO.copy_stream(socket, socket)
    rescue SystemCallError
      nil
    ensure
      socket&.close
    end
    yield server.addr[1]
  ensure
    thread.kill.join
    server.close
  end
end
