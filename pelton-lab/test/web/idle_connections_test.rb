# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/run"
require "pelton/lab/web/idle_connections"
require "socket"
require_relative "../support/wrong_answers"

class LabIdleConnectionsTest < PeltonTest
  include WrongAnswers

  HELLO = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"

  def setup
    super
    @sockets = Queue.new
  end

  def teardown
    @thread&.kill&.join
    @connections&.close
    @server.close
  end

  # Answers the first request of each connection with the block's value for its number, in two pieces.
  def open_connections(size, timeout: 10)
    number = 0
    @thread = Thread.new do
      loop do
        @sockets << socket = @server.accept
        nil until socket.gets == "\r\n"
        answer = block_given? ? yield(number += 1) : HELLO
        socket.write(answer[0, 40])
        socket.write(answer[40..].to_s)
        socket.close if answer.empty?
      end
    end
    @connections = Pelton::Lab::IdleConnections.new(@run, @server.addr[1], size, body: "hello", timeout:)
  end

  def test_all_are_open_at_once
    open_connections(250)
    @connections.check

    assert_equal 250, @sockets.size
    assert_nil @run.wrong_answer
  end

  def test_an_answer_that_is_wrong
    assert_wrong(/status should be "200", is "500"/) do
      open_connections(3) { |number| (number == 2) ? HELLO.sub("200", "500") : HELLO }
    end
  end

  def test_a_connection_that_is_closed_instead
    assert_wrong(/closed before its answer/) { open_connections(3) { |number| (number == 2) ? "" : HELLO } }
  end

  def test_no_answer
    assert_wrong(/no answer within 0.1 s/) { open_connections(1, timeout: 0.1) { HELLO[0, 20] } }
  end

  def test_one_that_does_not_stay_open
    open_connections(3)
    @sockets.pop.close

    assert_wrong(/still open should be 3, is 2/) { eventually("the end of one") { @connections.check } }
  end

  def test_it_says_that_it_may_not_have_so_many
    assert_equal "40 connections need as many descriptors, and this process may have 30 (ulimit -Hn)\n",
      ruby_output(<<~RUBY, @server.addr[1])
        require "pelton/lab/run"
        require "pelton/lab/web/idle_connections"
        Process.setrlimit(:NOFILE, 20, 30)
        begin
          Pelton::Lab::IdleConnections.new(Pelton::Lab::Run.new(size: 1), Integer(ARGV[0]), 40, body: "hello")
        rescue => error
          puts error.message
        end
      RUBY
  end
end
