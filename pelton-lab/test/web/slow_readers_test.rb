# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/run"
require "pelton/lab/web/slow_readers"
require "socket"
require_relative "../support/wrong_answers"

class LabSlowReadersTest < PeltonTest
  include WrongAnswers

  # More than the kernel takes at once from a sender.
  BODY = Random.new(3).bytes(1_000_003) * 12

  def setup
    super
    @written = Queue.new
  end

  def teardown
    @threads&.each { |thread| thread.kill.join }
    @readers&.close
    @server.close
  end

  # Answers with a body (nil: with nothing), a thread for each: they block.
  def readers(size, timeout: 10, body: BODY)
    @threads = Array.new(size) do
      Thread.new do
        socket = @server.accept
        @path = socket.gets[/ (\S+) /, 1]
        nil until socket.gets == "\r\n"
        next sleep unless body
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: #{body.bytesize}\r\n\r\n#{body}")
        @written << socket.close
      rescue SystemCallError
        next # the test is over
      end
    end
    @readers = Pelton::Lab::SlowReaders.new(@run, @server.addr[1], "/large", size, body: BODY, timeout:)
  end

  def test_they_keep_the_server_waiting_and_have_it_all_in_the_end
    readers(3)
    5.times { @readers.read_on(2) }

    assert_empty @written, "an answer was sent whole to one who reads slowly"
    @readers.check

    assert_equal "/large", @path
    assert_nil @run.wrong_answer
  end

  def test_some_of_them_are_enough_for_a_check
    readers(3)
    @readers.check(1)

    @written.pop

    assert_empty @written
    assert_nil @run.wrong_answer
  end

  def test_a_body_that_is_another
    readers(1, body: BODY.succ)

    assert_wrong(/whether it has the body/) { @readers.check }
  end

  def test_a_body_that_is_cut
    readers(1, body: "")
    @written.pop

    assert_wrong(/was closed/) { 5.times { @readers.read_on(1) } }
  end

  def test_one_without_a_first_byte
    assert_wrong(/had a byte within 0.1 s should be 2, is 0/) { readers(2, timeout: 0.1, body: nil) }
  end
end
