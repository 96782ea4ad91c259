# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"

class ClientConnectionTest < PeltonTest
  SETTINGS = Pelton::HTTP::Client::DEFAULTS
  RESPONSE = "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n"

  def test_a_response_may_come_in_any_two_pieces
    (1...RESPONSE.bytesize).each do |cut|
      converse(RESPONSE.byteslice(0, cut), RESPONSE.byteslice(cut..)) do |connection|
        assert_equal "abcde", exchange(connection).body
        assert_predicate connection, :reusable?
      end
    end
  end

  # More is there already, or the server wants to close it.
  def test_connections_that_are_not_used_again
    [
      "#{RESPONSE}HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcde"
    ].each do |bytes|
      converse(bytes) do |connection|
        assert_equal "abcde", exchange(connection).body
        refute_predicate connection, :reusable?
      end
    end
  end

  # Whether more came behind it is not known before one has looked.
  def test_a_body_that_ends_with_what_was_asked_for
    ["x" * 20_000, "x" * 65_536].each do |body|
      converse("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n", body) do |connection|
        assert_equal body, exchange(connection).body
        assert_predicate connection, :reusable?
      end
      converse("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n", "#{body}H") do |connection|
        assert_equal body, exchange(connection).body
        refute_predicate connection, :reusable?
      end
    end
  end

  # It refuses what it was sent half of.
  def test_a_server_that_answers_and_closes_before_it_has_read_all
    Pelton.run do
      stream, other = Pelton::Stream.pair
      Pelton.spawn do
        other.gets
        other.write("HTTP/1.1 413 Too Much\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!")
        other.close
      end
      connection = Pelton::HTTP::ClientConnection.new(stream, nil) {}
      response = exchange(connection, body: "x" * 5_000_000)

      assert_equal 413, response.status
      assert_equal "no!", response.body
      refute_predicate connection, :reusable?
    end
  end

  # It refuses what it was sent the beginning of, and neither reads on nor closes: the rest is not waited for.
  def test_a_server_that_answers_before_it_has_read_all
    [["x" * 5_000_000], ["x" * 100_000] * 50].each do |pieces|
      Pelton.run do
        stream, other = Pelton::Stream.pair
        other.write("HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 413 Too Much\r\nContent-Length: 3\r\n\r\nno!")
        connection = Pelton::HTTP::ClientConnection.new(stream, nil) {}
        response = exchange(connection, body: (pieces.size > 1) ? pieces : pieces[0], write_timeout: nil)

        assert_equal 413, response.status
        assert_equal "no!", response.body
        refute_predicate connection, :reusable?
      ensure
        [stream, other].each(&:abort)
      end
    end
  end

  def test_no_more_of_a_body_is_asked_for_when_the_server_has_answered
    converse("HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n") do |connection|
      pieces = Enumerator.new { |more| loop { more << "x" && Pelton::Reactor.current.yield } } # without end

      assert_equal 413, exchange(connection, body: pieces).status
    end
  end

  # What comes before the answer is no answer.
  def test_an_informational_response_while_a_body_is_sent
    Pelton.run do
      stream, other = Pelton::Stream.pair
      Pelton.spawn do
        head = "HTTP/1.1 102 Processing\r\n\r\n"
        head.each_char { |char| other.write(char).then { other.flush } && Pelton::Reactor.current.yield }
        assert_match(/x\r\n0\r\n\r\n\z/, other.readline("0\r\n\r\n"))
        other.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      end
      connection = Pelton::HTTP::ClientConnection.new(stream, nil) {}
      pieces = Enumerator.new { |more| 100.times { more << "x" && Pelton::Reactor.current.yield } }

      assert_equal "", exchange(connection, body: pieces).body
      assert_predicate connection, :reusable?
    end
  end

  # Of a large body, and of one that waits in the stream's queue while the response is waited for.
  def test_what_is_sent_slowly_is_not_late
    [[5_000_000, :write_timeout], [900_000, :response_timeout]].each do |length, phase|
      # A machine may stand still
      assert([0.05, 0.5, 2.5].any? { |time| sent_slowly?(length, time * 0.3, {phase => time}) }, phase.to_s)
    end
  end

  def test_a_server_that_takes_nothing
    Pelton.run do
      stream, other = Pelton::Stream.pair
      error = assert_raises(Pelton::TimeoutError) do
        exchange(Pelton::HTTP::ClientConnection.new(stream, nil) {}, body: "x" * 5_000_000, write_timeout: 0.02)
      end

      assert_match(/write_timeout/, error.message)
    ensure
      other.abort
    end
  end

  # Each byte comes in time, and the head never does.
  def test_a_head_that_trickles
    Pelton.run do
      stream, other = Pelton::Stream.pair
      Pelton.spawn do
        other.write("HTTP/1.1 200 OK\r\nX: ")
        loop { other.write("y") && sleep(0.005) }
      rescue Pelton::Error
        nil
      end
      error = assert_raises(Pelton::TimeoutError) do
        exchange(Pelton::HTTP::ClientConnection.new(stream, nil) {}, response_timeout: 0.1)
      end

      assert_match(%r{POST http://x/: .*response_timeout}, error.message)
    ensure
      [stream, other].each(&:abort)
    end
  end

  def test_another_protocol_that_nobody_asked_for
    converse("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n") do |connection|
      assert_raises(Pelton::ProtocolError) { exchange(connection) }
      assert_predicate connection.stream, :closed?
    end
  end

  def test_informational_responses_without_end
    converse("HTTP/1.1 103 Early Hints\r\n\r\n" * 200) do |connection|
      assert_raises(Pelton::ProtocolError) { exchange(connection) }
    end
  end

  def test_a_truncated_chunked_body
    converse(RESPONSE.byteslice(0, RESPONSE.bytesize - 3), nil) do |connection|
      response = exchange(connection)

      assert_instance_of Pelton::ConnectionError, assert_raises(Pelton::ConnectionError) { response.body }
      assert_predicate connection.stream, :closed?
    end
  end

  private

  # nil closes.
  def converse(*pieces)
    Pelton.run do
      stream, other = Pelton::Stream.pair
      Pelton.spawn do
        other.gets
        pieces.each do |piece|
          piece ? other.write(piece) && other.flush : other.close
          Pelton::Reactor.current.yield
        end
      end
      yield Pelton::HTTP::ClientConnection.new(stream, nil) {}
    ensure
      stream.abort
      other.abort
    end
  end

  def sent_slowly?(length, pause, settings)
    Pelton.run do
      stream, other = Pelton::Stream.pair
      Pelton.spawn do
        other.readline("\r\n\r\n", limit: 10_000)
        10.times { sleep(pause) && other.read_exactly(length / 10) }
        other.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      rescue Pelton::Error, EOFError
        nil
      end
      exchange(Pelton::HTTP::ClientConnection.new(stream, nil) {}, body: "x" * length, **settings).status == 200
    rescue Pelton::TimeoutError
      false
    ensure
      [stream, other].each(&:abort)
    end
  end

  def exchange(connection, body: nil, **settings)
    request = Pelton::HTTP::ClientRequest.new("POST", "http://x/", base: nil, query: nil, defaults: {}, headers: {},
      body: body,
      json: Pelton::HTTP::ClientRequest::NONE, form: nil, basic_auth: nil, decode: false)
    settings = SETTINGS.merge(settings)
    connection.exchange(request, Pelton::HTTP::Deadlines.new(settings), settings)
  end
end
