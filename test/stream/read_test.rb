# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/fault_proxy"
require_relative "../support/streams"

# Reads: without waiting, by several fibers, by lines.
class StreamReadTest < PeltonTest
  include Streams

  def test_read_nonblock_and_write_nonblock
    Pelton.run do
      one, other = Pelton::Stream.pair

      assert_equal :wait_readable, one.read_nonblock(5, exception: false)
      assert_raises(IO::EAGAINWaitReadable) { one.read_nonblock(5) }
      other.write("abc")
      tick

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

  def test_a_timeout_detects_a_silent_peer
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

  # ---- several fibers

  def test_reads_of_several_fibers_are_served_in_order
    got = []
    Pelton.run do
      one, other = Pelton::Stream.pair
      readers = [
        Pelton.spawn { got << one.read(6) },
        Pelton.spawn { got << one.gets },
        Pelton.spawn { got << one.readpartial(2) },
        Pelton.spawn { got << one.read(3) }
      ]
      tick
      "abcdefline\nxy123".each_char do |char|
        other.write(char)
        tick
      end
      readers.each(&:await)
    end
    assert_equal ["abcdef", "line\n", "x", "y12"], got
  end

  def test_a_reader_that_is_cancelled_or_times_out_lets_the_next_one_read
    got = []
    Pelton.run do
      one, other = Pelton::Stream.pair
      first = Pelton.spawn { one.read(10) }
      second = Pelton.spawn { got << one.read(10) }
      impatient = Pelton.spawn { one.read(10, timeout: 0.005) }
      last = Pelton.spawn { got << one.gets }
      tick
      other.write("abc")
      tick
      assert_raises(Pelton::TimeoutError) { impatient.await }
      second.cancel
      tick
      first.cancel # the bytes that it had received are there for the next one
      tick
      other.write("d\n")
      last.await
    end
    assert_equal ["abcd\n"], got
  end

  def test_reads_with_blocks_complete_in_the_order_of_the_calls
    got = []
    run_with_pair do |stream, peer|
      stream.gets { |line| got << line }
      stream.read(3) { |bytes| got << bytes }
      stream.gets { |line| got << line }
      in_thread { "one\nthrtwo\n".each_char { |char| peer.write(char) } && peer.close }
    end
    assert_equal %W[one\n thr two\n], got
  end

  def test_two_ends_in_one_reactor_exchange_many_lines
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
      assert_nil one.close_write
      assert_nil one.gets
    end
  end

  def test_a_reader_with_data_always_ready_lets_other_fibers_run
    iterations = 0
    Pelton.run do
      one, other = Pelton::Stream.pair
      other.write("x" * 100_000)
      Pelton.spawn { loop { tick && iterations += 1 } }.then do |ticker|
        100_000.times { one.readpartial(1) }
        ticker.cancel
      end
    end
    assert_operator iterations, :>, 100
  end
end
