# frozen_string_literal: true

require "socket"
require "pelton"
require_relative "../support/call_styles"

# The behaviour of streams in every style. A class that includes this module and one of the styles below runs each test
# in that style.
module StreamSuite
  # Inside a reactor, without a block: calls park.
  Direct = CallStyles::Direct

  # Where no reactor runs, without a block: calls block.
  Blocking = CallStyles::Blocking

  # Inside a reactor, with a block.
  Callback = CallStyles::Callback

  # Where no reactor runs, with a block: the block is called before the method returns the Deferrable.
  module BlockingCallback
    def inside = yield

    def ask(stream, name, *arguments, **options)
      got = []
      deferrable = stream.public_send(name, *arguments, **options) { |value| got << value }
      assert_equal [deferrable.result], got if deferrable.state == :succeeded
      deferrable.await
    end
  end

  STYLES = [Direct, Blocking, Callback, BlockingCallback].freeze
  LARGE = Random.new(7).bytes(5_000_000).freeze

  # ---- readpartial

  def test_readpartial_returns_the_bytes_at_hand
    with_stream do |stream, peer|
      peer.write("abcdef")
      assert_equal "abcd", ask(stream, :readpartial, 4)
      bytes = ask(stream, :readpartial, 100)

      assert_equal "ef", bytes
      assert_equal Encoding::BINARY, bytes.encoding
    end
  end

  def test_readpartial_fills_a_buffer
    with_stream do |stream, peer|
      buffer = +"what was there before"
      peer.write("abcdef")
      assert_same buffer, ask(stream, :readpartial, 4, buffer)
      assert_equal "abcd", buffer
      later { peer.write("ghi") }
      2.times { ask(stream, :readpartial, 100_000, buffer) }

      assert_equal "ghi", buffer
    end
  end

  def test_readpartial_of_nothing_does_not_wait
    with_stream do |stream, _peer|
      assert_equal "", ask(stream, :readpartial, 0)
      assert_equal "", ask(stream, :readpartial, 0, +"x")
    end
  end

  def test_readpartial_at_the_end
    with_stream do |stream, peer|
      peer.write("last")
      peer.close
      assert_equal "last", ask(stream, :readpartial, 100)
      2.times { assert_raises(EOFError) { ask(stream, :readpartial, 100) } }
      assert_raises(EOFError) { ask(stream, :readpartial, 100, +"") }
    end
  end

  def test_wrong_arguments_of_reads
    with_stream do |stream, peer|
      assert_raises(ArgumentError) { ask(stream, :readpartial, -1) }
      assert_raises(ArgumentError) { ask(stream, :read, -1) }
      assert_raises(TypeError) { ask(stream, :readpartial, "x") }
      assert_raises(TypeError) { ask(stream, :readpartial, 1, 5) }
      peer.write("x")
      assert_raises(FrozenError) { ask(stream, :readpartial, 1, "frozen") }
      assert_raises(FrozenError) { ask(stream, :read, 1, "frozen") }
      assert_equal "x", ask(stream, :readpartial, 1)
      assert_raises(ArgumentError) { ask(stream, :gets, "") }
    end
  end

  # ---- read

  def test_read_returns_exactly_the_length
    with_stream do |stream, peer|
      sender = later { "abcdefghij".each_char { |char| peer.write(char) } }
      assert_equal "abcd", ask(stream, :read, 4)
      assert_equal "efg", ask(stream, :read, 3, buffer = +"")
      assert_equal "efg", buffer
      sender.join
      peer.close_write
      assert_equal "hij", ask(stream, :read, 9)
      assert_nil ask(stream, :read, 9)
      assert_equal "", ask(stream, :read, 0)
      assert_equal "", ask(stream, :read)
    end
  end

  def test_read_to_the_end
    with_stream do |stream, peer|
      sender = Thread.new { peer.write(LARGE) && peer.close }
      assert_equal LARGE.byteslice(0, 10), ask(stream, :read, 10)
      assert_equal LARGE.byteslice(10..), ask(stream, :read)
      sender.join
    end
  end

  def test_read_of_a_large_length
    with_stream do |stream, peer|
      sender = Thread.new { peer.write(LARGE, "rest") }
      assert_equal LARGE, ask(stream, :read, LARGE.bytesize)
      assert_equal "rest", ask(stream, :readpartial, 100)
      sender.join
    end
  end

  def test_read_exactly
    with_stream do |stream, peer|
      later { peer.write("ab") && peer.write("cde") && peer.close }
      assert_equal "abcd", ask(stream, :read_exactly, 4)
      error = assert_raises(EOFError) { ask(stream, :read_exactly, 4) }
      assert_equal "the peer sent 1 bytes of 4", error.message
      assert_raises(EOFError) { ask(stream, :read_exactly, 4) }
      assert_equal "", ask(stream, :read_exactly, 0)
    end
  end

  # ---- gets

  def test_gets_returns_lines
    with_stream do |stream, peer|
      peer.write("one\ntwo\r\n\nlast")
      peer.close_write
      assert_equal %W[one\n two\r\n \n last], Array.new(4) { ask(stream, :gets) }
      assert_nil ask(stream, :gets)
    end
  end

  def test_gets_chomps
    with_stream do |stream, peer|
      peer.write("one\ntwo\r\n\r\n\n\rx\n<br><br>three<br>last\r")
      peer.close_write
      assert_equal ["one", "two", "", "", "\rx"], Array.new(5) { ask(stream, :gets, chomp: true) }
      assert_equal ["", "", "three", "last\r"], Array.new(4) { ask(stream, :gets, "<br>", chomp: true) }
      assert_nil ask(stream, :gets, chomp: true)
    end
  end

  # The separator is found even if it comes in several pieces.
  def test_gets_of_a_line_that_comes_byte_by_byte
    with_stream do |stream, peer|
      later { "a--b---c--".each_char { |char| peer.write(char) && Thread.pass } }

      assert_equal ["a--", "b--", "-c--"], Array.new(3) { ask(stream, :gets, "--") }
    end
  end

  def test_gets_refuses_a_line_beyond_its_limit_and_keeps_it
    with_stream do |stream, peer|
      peer.write("12345\nabcdef\n")
      assert_equal "12345\n", ask(stream, :gets, limit: 6)
      assert_raises(Pelton::LimitError) { ask(stream, :gets, limit: 6) }
      assert_equal "abcdef\n", ask(stream, :gets, limit: 7)
      peer.write("x" * 1000)
      assert_raises(Pelton::LimitError) { ask(stream, :gets, limit: 999) }
      assert_equal "x" * 1000, ask(stream, :read, 1000)
    end
  end

  def test_readline
    with_stream do |stream, peer|
      peer.write("one\ntwo")
      peer.close
      assert_equal "one", ask(stream, :readline, chomp: true)
      assert_equal "two", ask(stream, :readline)
      assert_raises(EOFError) { ask(stream, :readline) }
    end
  end

  def test_lines_and_bytes_alternate
    with_stream do |stream, peer|
      peer.write("line\nbytesmore\nrest")
      assert_equal "line\n", ask(stream, :gets)
      assert_equal "bytes", ask(stream, :readpartial, 5)
      assert_equal "more\n", ask(stream, :gets)
      later { peer.write("!") }
      assert_equal "rest!", ask(stream, :read, 5)
    end
  end

  # ---- write

  def test_write_returns_the_bytes_sent
    with_stream do |stream, peer|
      assert_equal 5, ask(stream, :write, "häl\n")
      assert_equal 6, ask(stream, :write, "one", :two)
      assert_equal 2, ask(stream, :write, 42)
      assert_equal 0, ask(stream, :write)
      assert_equal 0, ask(stream, :write, "")
      ask(stream, :flush)
      assert_equal 0, stream.pending
      assert_equal "häl\nonetwo42".b, peer.readpartial(100)
    end
  end

  def test_a_large_write_to_a_slow_peer
    with_stream do |stream, peer|
      received = Thread.new { sleep(0.01) && peer.read }
      assert_equal LARGE.bytesize + 4, ask(stream, :write, "<", LARGE, ">!", "\n")
      stream.close
      assert_predicate stream, :closed?
      assert_equal "<#{LARGE}>!\n".b, received.value
    end
  end

  # The stream sends the bytes as they were at the time of the call, although it does not copy them.
  def test_a_string_may_be_changed_after_it_was_written
    with_stream do |stream, peer|
      string = LARGE.byteslice(0, 1_500_000)
      received = Thread.new { sleep(0.01) && peer.read }
      Pelton.running? ? stream.later.write(string) : ask(stream, :write, string)
      string.clear
      string << "changed"
      ask(stream, :write, string)
      stream.close
      assert_equal "#{LARGE.byteslice(0, 1_500_000)}changed".b, received.value
    end
  end

  def test_close_write_comes_after_the_output
    with_stream do |stream, peer|
      ask(stream, :write, "bye")
      stream.close_write
      assert_raises(Pelton::ClosedError) { ask(stream, :write, "more") }
      assert_equal "bye", Thread.new { peer.read }.value
      peer.write("answer")
      assert_equal "answer", ask(stream, :readpartial, 100)
    end
  end

  def test_write_to_a_closed_peer
    with_stream do |stream, peer|
      peer.close
      error = assert_raises(Pelton::ConnectionError) do
        3.times { ask(stream, :write, "x" * 20_000) && ask(stream, :flush) }
      end
      assert_equal Errno::EPIPE::Errno, error.errno
    end
  end

  # ---- ends

  def test_a_reset_is_reported_after_the_bytes_before_it
    with_connection do |stream, peer|
      peer.write("last")
      assert_equal "l", ask(stream, :readpartial, 1)
      peer.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      peer.close
      assert_equal "ast", ask(stream, :readpartial, 100)
      error = assert_raises(Pelton::ConnectionError) { ask(stream, :readpartial, 100) }
      assert_equal Errno::ECONNRESET::Errno, error.errno
    end
  end

  def test_calls_on_a_closed_stream_raise
    with_stream do |stream, peer|
      peer.write("unread")
      refute_predicate stream, :closed?
      stream.close
      stream.close
      assert_predicate stream, :closed?
      assert_raises(Pelton::ClosedError) { ask(stream, :readpartial, 1) }
      assert_raises(Pelton::ClosedError) { ask(stream, :gets) }
      assert_raises(Pelton::ClosedError) { ask(stream, :read, 1) }
      assert_raises(Pelton::ClosedError) { ask(stream, :write, "x") }
      assert_raises(Pelton::ClosedError) { ask(stream, :flush) }
      assert_raises(Pelton::ClosedError) { stream.close_write }
      assert_raises(Pelton::ClosedError) { stream.fileno }
    end
  end

  # ---- timeouts

  def test_bytes_received_before_a_timeout_are_kept_for_the_next_read
    with_stream do |stream, peer|
      peer.write("abc")
      assert_raises(Pelton::TimeoutError) { ask(stream, :read, 5, timeout: 0.01) }
      assert_raises(Pelton::TimeoutError) { ask(stream, :gets, timeout: 0.01) }
      assert_raises(Pelton::TimeoutError) { ask(stream, :read_exactly, 4, timeout: 0) }
      later { peer.write("de\n") }
      assert_equal "abcde\n", ask(stream, :gets)
    end
  end

  def test_the_streams_timeout_applies_to_calls_without_one
    with_stream do |stream, peer|
      assert_nil stream.timeout
      stream.timeout = 0.01
      assert_in_delta 0.01, stream.timeout
      assert_raises(Pelton::TimeoutError) { ask(stream, :readpartial, 5) }
      assert_raises(Pelton::TimeoutError) { ask(stream, :gets) }
      [10, nil].each do |timeout|
        later { peer.write("x\n") }
        assert_equal "x\n",
          timeout ? ask(stream, :gets, timeout: timeout) : ask(stream.tap { stream.timeout = nil }, :gets)
      end
    end
  end

  def test_flush_and_write_time_out
    with_stream do |stream, peer|
      stream.timeout = 0.01
      stream.later.write(LARGE) if Pelton.running?
      assert_raises(Pelton::TimeoutError) { Pelton.running? ? ask(stream, :flush) : ask(stream, :write, LARGE) }
      assert_operator stream.pending, :>, 0
      received = Thread.new { peer.read(LARGE.bytesize) }
      ask(stream, :flush, timeout: 10)
      assert_equal LARGE, received.value
    end
  end

  private

  def with_stream(sockets = UNIXSocket.pair)
    own, @peer = sockets
    inside do
      stream = Pelton::Stream.for_fd(own.fileno)
      own.autoclose = false
      yield stream, @peer
    ensure
      @threads&.each(&:join)
      stream&.abort
    end
  ensure
    @peer.close unless @peer.closed?
  end

  def with_connection(&block)
    listener = TCPServer.new("127.0.0.1", 0)
    client = TCPSocket.new("127.0.0.1", listener.addr[1])
    with_stream([client, listener.accept], &block)
  ensure
    listener.close
  end

  # Calls the block in a thread when the test waits.
  def later = Thread.new { sleep(0.005) && yield }.tap { |thread| (@threads ||= []) << thread }
end
