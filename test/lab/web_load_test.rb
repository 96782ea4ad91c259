# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab"
require "pelton/lab/programs"
require "pelton/lab/run"
require "pelton/lab/web_load"
require "socket"

class LabWebLoadTest < PeltonTest
  def setup
    @run = Pelton::Lab::Run.new(size: 1)
    @load = Pelton::Lab::WebLoad.new(@run)
  end

  # Answers each request with what the block says to its number, a connection each.
  def serve
    server = TCPServer.new("127.0.0.1", 0)
    number = 0
    thread = Thread.new do
      loop do
        socket = server.accept
        nil until [nil, "\r\n"].include?(socket.gets)
        status, body = yield number += 1
        socket.write("HTTP/1.1 #{status}\r\nconnection: close\r\ncontent-length: #{body.bytesize}\r\n\r\n#{body}")
        socket.close
      rescue SystemCallError
        next # it asks no longer
      end
    end
    thread.report_on_exception = false
    @servers = [*@servers, [server, thread]]
    "http://127.0.0.1:#{server.addr[1]}/"
  end

  def teardown
    @servers&.each do |server, thread|
      thread.kill.join
      server.close
    end
  end

  def test_ab_counts_answers
    needs("ab")
    done = @load.ab(serve { ["200 OK", "hello"] }, requests: 10, connections: 3, bytes: 5)

    assert_equal 10, done.requests
    assert_kind_of Float, done.seconds
  end

  def test_ab_finds_what_is_wrong
    needs("ab")

    assert_wrong { @load.ab(serve { |n| (n == 7) ? ["500 No", "hello"] : ["200 OK", "hello"] }, requests: 10, connections: 1, bytes: 5) }
    assert_wrong { @load.ab(serve { |n| ["200 OK", (n == 7) ? "hell" : "hello"] }, requests: 10, connections: 1, bytes: 5) }
    assert_wrong { @load.ab(serve { ["200 OK", "hell"] }, requests: 3, connections: 1, bytes: 5) }
    assert_match(/ab failed/, assert_raises(RuntimeError) { @load.ab("http://127.0.0.1:1/", requests: 3, connections: 1, bytes: 5) }.message)
  end

  def test_wrk_counts_answers
    needs("wrk")
    done = @load.wrk(serve { ["200 OK", "hello"] }, seconds: 1, connections: 1)

    assert_operator done.requests, :>, 0
    assert_kind_of Float, done.seconds
  end

  def test_wrk_finds_what_is_wrong
    needs("wrk")

    assert_wrong { @load.wrk(serve { ["500 No", "hello"] }, seconds: 1, connections: 1) }
  end

  def test_a_program_that_is_missing_is_named
    error = assert_raises(Pelton::Lab::Unavailable) { Pelton::Lab::WebLoad.program("pelton-has-no-such-program") }

    assert_match(/pelton-has-no-such-program is not installed/, error.message)
  end

  def test_a_program_stands_for_the_races_server
    program = Pelton::Lab::WebLoad.program("ruby")

    assert_match(/\Aruby \d/, program.version)
    assert_nil program.port
  end

  private

  def needs(program)
    skip "no #{program}" unless Pelton::Lab::Programs.find(program)
  end

  def assert_wrong(&block)
    assert_raises(Pelton::Lab::Run::WrongAnswer, &block)
    assert @run.wrong_answer
  end
end
