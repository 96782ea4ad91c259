# frozen_string_literal: true

require "digest"
require_relative "../test_helper"
require_relative "../support/streams"

# Callback style: on_data, pause and resume.
class StreamDeliveryTest < PeltonTest
  include Streams

  def teardown
    Pelton.on_error
  end

  def test_bytes_arrive_in_order_then_the_end
    [nil, +""].each do |buffer|
      log = []
      digest = Digest::SHA256.new
      run_with_pair do |stream, peer|
        stream.on_close { |error| log << [:closed, error] }
        assert_same stream, stream.on_data(buffer) { |bytes|
          assert_same buffer, bytes if buffer
          assert_equal Encoding::BINARY, bytes.encoding unless buffer
          digest << bytes
        }
        peer.write(LARGE)
        peer.close
      end
      assert_equal Digest::SHA256.hexdigest(LARGE), digest.hexdigest
      assert_equal [[:closed, nil]], log
    end
  end

  def test_each_piece_is_a_new_string
    pieces = []
    run_with_pair do |stream, peer|
      stream.on_data { |bytes| pieces << bytes }
      peer.write(LARGE)
      peer.close
    end
    assert_equal LARGE, pieces.join
    assert_operator pieces.map(&:bytesize).max, :<=, 65_536
  end

  def test_buffered_input_is_delivered_first
    got = +""
    run_with_pair do |stream, peer|
      peer.write("line\nfirst")
      peer.flush
      assert_equal "line\n", stream.gets
      stream.on_data { |bytes| got << bytes }
      peer.write(" second")
      peer.close
    end
    assert_equal "first second", got
  end

  def test_an_error_in_the_block_is_reported_and_delivery_goes_on
    got = []
    errors = errors_reported do |messages|
      run_with_pair do |stream, peer|
        stream.on_data do |bytes|
          got << bytes
          raise "of #{bytes}" if bytes == "one"
        end
        peer.write("one")
        tick until messages.any?
        peer.write("two")
        peer.close
      end
    end
    assert_equal %w[one two], got
    assert_equal ["of one"], errors
  end

  # The stream is busy: its next pieces wait, those of other streams do not.
  def test_a_waiting_block_delays_only_its_own_stream
    log = []
    run_with_pair do |slow, slow_peer|
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
        tick until log.include?("slow 1")
        quick_peer.write("a")
        quick_peer.flush
        tick until log.include?("quick a")
        5.times { tick }
        quick_peer.write("b")
        quick_peer.close
        tick until log.include?("slow 2 done")
        slow_peer.close
      end
    end
    assert_equal ["slow 1", "quick a", "quick b", "slow 1 done", "slow 2", "slow 2 done"], log
  end

  def test_the_block_may_read_more_bytes
    got = []
    run_with_pair do |stream, peer|
      stream.on_data { |bytes| got << bytes << stream.read(4) << stream.gets }
      peer.write("head")
      peer.flush
      tick until got.any?
      in_thread { peer.write("bod") && peer.write("yline\n") && peer.close }
    end
    assert_equal %W[head body line\n], got
  end

  def test_one_stream_gets_a_share_of_each_iteration
    shares = Hash.new(0)
    sender = nil
    Pelton.run do
      listener = TCPServer.new("127.0.0.1", 0)
      sender = Thread.new { listener.accept.tap { |socket| 6.times { socket.write(LARGE) } }.close }
      stream = Pelton.connect("127.0.0.1", listener.addr[1])
      stream.on_data { |bytes| shares[Pelton.stats[:iterations]] += bytes.bytesize }
    end
    sender.join
    assert_equal 6 * LARGE.bytesize, shares.values.sum
    assert_operator shares.values.max, :<, (1 << 20) + 65_536
  end

  def test_a_stream_with_on_data_is_not_collected
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

  def test_nothing_is_delivered_while_paused
    got = []
    run_with_pair do |stream, peer|
      stream.on_data do |bytes|
        got << bytes
        stream.pause
      end
      peer.write("one")
      peer.flush
      tick until got.any?
      assert_predicate stream, :paused?
      peer.write("two")
      peer.close
      5.times { tick }
      assert_equal %w[one], got
      stream.resume
      refute_predicate stream, :paused?
      tick until got.size == 2
      assert_equal %w[one two], got
      refute_predicate stream, :closed? # the end waits for the resume as bytes do
      stream.resume
      tick until stream.closed?
    end
  end

  def test_calls_can_be_chained
    run_with_pair do |stream, _peer|
      assert_same stream, stream.pause
      assert_same stream, stream.resume
      stream.close
    end
  end

  # A read keeps the bytes that it has begun with.
  def test_resuming_during_a_read_delivers_the_bytes_behind_it
    delivered = []
    run_with_pair do |stream, peer|
      stream.on_data { |bytes| delivered << bytes }
      stream.pause
      reader = Pelton.spawn { stream.gets }
      peer.write("a" * 100_000)
      sleep 0.005
      stream.resume
      sleep 0.002
      peer.write("b\nrest")

      line = reader.await
      assert_equal 100_002, line.size
      assert_equal "b\n", line[-2..]
      sleep 0.002 until delivered.join == "rest"
      stream.close
    end
  end

  def test_a_paused_stream_can_be_read
    run_with_pair do |stream, peer|
      stream.on_data { |bytes| flunk bytes }
      stream.pause
      peer.write("direct")
      peer.flush
      assert_equal "direct", stream.readpartial(100)
      stream.close
    end
  end

  def test_direct_reads_and_on_data_exclude_each_other
    Pelton.run do
      with_pair do |stream, _peer|
        stream.on_data { |bytes| flunk bytes }
        assert_match(/pause it/, assert_raises(Pelton::Error) { stream.gets }.message)
        stream.close
      end
      with_pair do |stream, peer|
        reader = Pelton.spawn { stream.gets }
        tick
        assert_raises(Pelton::Error) { stream.on_data {} }
        peer.write("line\n")
        peer.close
        assert_equal "line\n", reader.await
      end
    end
  end
end
