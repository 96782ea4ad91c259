# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"

# The text of server-sent events, in pieces.
class ClientEventParserTest < PeltonTest
  # The text of a stream, and its events: type, data, id.
  STREAMS = {
    "data: one\n\ndata: two\n\n" => [["message", "one", ""], ["message", "two", ""]],
    "event: price\ndata: 7\nid: 3\n\n" => [["price", "7", "3"]],
    "data: a\ndata: b\n\n" => [["message", "a\nb", ""]],
    "data\n\ndata\ndata\n\ndata:" => [["message", "", ""], ["message", "\n", ""]],
    "data:x\r\rdata: y\r\n\r\n" => [["message", "x", ""], ["message", "y", ""]],
    "data:  two spaces\n\n" => [["message", " two spaces", ""]],
    ": a comment\ndata: x\nother: y\nno colon\n\n" => [["message", "x", ""]],
    "id: 1\n\ndata: x\n\nid\ndata: y\n\n" => [["message", "x", "1"], ["message", "y", ""]],
    "id: 1\0\ndata: x\n\n" => [["message", "x", ""]],
    "event: lost\n\ndata: x\n\n" => [["message", "x", ""]],
    "\xEF\xBB\xBFdata: x\n\n" => [["message", "x", ""]],
    "data: \xFFx\n\n" => [["message", "\uFFFDx", ""]],
    "data: cut off" => []
  }.freeze

  def parse(*pieces, **options)
    parser = Pelton::HTTP::EventParser.new(limit: 1000, **options)
    events = []
    pieces.each { |piece| parser.feed(piece.b) { |event| events << event.to_a } }
    [events, parser]
  end

  def test_streams
    STREAMS.each { |text, events| assert_equal events, parse(text).first, text.inspect }
  end

  def test_streams_byte_by_byte
    STREAMS.each { |text, events| assert_equal events, parse(*text.b.chars).first, text.inspect }
  end

  def test_streams_cut_at_each_place
    STREAMS.each do |text, events|
      1.upto(text.bytesize - 1) do |at|
        assert_equal events, parse(text.byteslice(0, at), text.byteslice(at..)).first, "#{text.inspect} at #{at}"
      end
    end
  end

  def test_the_server_says_when_to_come_back
    _, parser = parse("retry: 1500\nretry: soon\n\n")

    assert_in_delta 1.5, parser.retry_after
  end

  def test_an_event_that_is_too_large
    ["data: #{"x" * 1_000}", "data: #{"x" * 100}\n" * 12, "x" * 1_001].each do |text|
      assert_raises(Pelton::LimitError) { parse(text) }
    end
  end

  def test_a_line_in_many_pieces
    parser = Pelton::HTTP::EventParser.new(limit: 1 << 20)
    parser.feed("data: ")
    100_000.times { parser.feed("x") }
    events = []
    parser.feed("\n\n") { |event| events << event.data.bytesize }

    assert_equal [100_000], events
  end
end
