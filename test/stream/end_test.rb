# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/fault_proxy"
require_relative "../support/streams"

# How streams end: end of file, errors, close and abort.
class StreamEndTest < PeltonTest
  include Streams

  def test_on_end_leaves_closing_to_its_block
    log = []
    run_with_pair do |stream, peer|
      stream.on_data { |bytes| log << bytes }
      stream.on_close { |error| log << [:closed, error] }
      stream.on_end do
        log << :end
        stream.write("answer")
        stream.close
      end
      peer.write("question")
      peer.close_write
      in_thread { log << peer.read }
    end
    assert_equal ["question", :end], log.first(2)
    eventually { log.size == 4 }
    assert_equal [["answer"], [[:closed, nil]]], log.last(2).partition { |entry| entry == "answer" }
  end

  def test_queued_output_is_sent_before_the_stream_closes_at_the_end
    received = nil
    run_with_pair do |stream, peer|
      stream.on_data { |bytes| stream.later.write(LARGE) }
      peer.write("question")
      peer.close_write
      received = Thread.new { sleep(0.01) && peer.read }
    end
    assert_equal LARGE, received.value
  end

  def test_an_error_is_reported_once_and_after_the_bytes
    log = []
    Pelton.run do
      with_connection do |stream, peer|
        stream.on_close { |error| log << [error.class, error.errno] }
        stream.on_end { log << :end }
        peer.write("last")
        tick until (stream.on_data { |bytes| log << bytes } if log.empty?) || log.any?
        tick until log.any?
        reset(peer)
      end
    end
    assert_equal ["last", [Pelton::ConnectionError, Errno::ECONNRESET::Errno]], log
  end

  def test_a_connection_cut_in_the_middle
    log = []
    failures = []
    with_echo_server do |port|
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

  # ---- closing

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
    run_with_pair do |one, one_peer|
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

  def test_on_close_is_called_once_for_each_block_even_after_the_close
    log = []
    run_with_pair do |stream, _peer|
      stream.on_close { log << :first }
      stream.close
      stream.close
      stream.abort
      assert_empty log # on_close is never called inside close
      tick
      stream.on_close { log << :afterwards }
      assert_equal [:first], log
    end
    assert_equal [:first, :afterwards], log
    with_pair do |stream, _peer|
      stream.on_close { |error| log << [:blocking, error] }
      stream.close
      assert_equal [:blocking, nil], log.last
    end
  end

  def test_waiting_calls_raise_when_the_stream_is_closed
    errors = []
    Pelton.run do
      one, _other = Pelton::Stream.pair
      waiting = [
        Pelton.spawn { one.gets },
        Pelton.spawn { one.read(5) },
        Pelton.spawn { one.write(LARGE) },
        Pelton.spawn { one.flush }
      ]
      3.times { tick }
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

  def test_a_closed_stream_gives_up_on_a_peer_that_does_not_read
    log = []
    run_with_pair do |stream, _peer|
      stream.timeout = 0.02
      stream.on_close { |error| log << error.class }
      stream.write(LARGE) { flunk }.errback { |error| log << error.class }
      stream.close
      tick
      assert_empty log
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

  def test_abort_fails_pending_writes
    log = []
    run_with_pair do |stream, _peer|
      stream.write(LARGE) { flunk }.errback { |error| log << error.class }
      stream.abort
    end
    assert_equal [Pelton::ClosedError], log
  end

  def test_close_read
    Pelton.run do
      one, other = Pelton::Stream.pair
      one.close_read

      assert_nil one.read_nonblock(5, exception: false)
      assert_raises(EOFError) { one.read_nonblock(5) }
      one.write("x")

      assert_equal "x", other.readpartial(5)
    end
  end
end
