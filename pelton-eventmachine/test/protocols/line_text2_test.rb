# frozen_string_literal: true

require_relative "../helper"

class EventMachineLineText2Test < EventMachineTest
  class Log
    include EM::P::LineText2

    attr_reader :log

    def initialize(&block)
      @log = []
      @block = block
    end

    def receive_line(line)
      @log << line
      @block&.call(self, line)
    end

    def receive_binary_data(data)
      @log << [data]
      @block&.call(self, [data])
    end

    def receive_end_of_binary_data
      @log << :end
    end
  end

  # Feeds the text as a whole, and in pieces of each size. The outcome must be the same for all.
  def read(text, *sizes, &block)
    [text.bytesize, *sizes].map do |size|
      log = Log.new(&block)
      text.b.scan(/.{1,#{size}}/mn) { |part| log.receive_data(part) }
      log.log
    end.uniq.then { |results| (results.size == 1) ? results.first : flunk("not the same: #{results.inspect}") }
  end

  def test_lines
    assert_equal ["", "", "a\rb", "x"], read("\n\r\na\rb\nx\r\nrest", 1, 2, 3)
  end

  def test_lines_are_binary
    assert_equal Encoding::BINARY, read("\u221A\n").first.encoding
  end

  def test_any_text_may_be_the_delimiter
    handler = Log.new
    handler.set_delimiter("||")
    "a||b\r\n||c||d|".each_char { |char| handler.receive_data(char) }

    assert_equal %W[a b\r\n c], handler.log
  end

  def test_a_pattern_may_be_the_delimiter
    handler = Log.new
    handler.set_delimiter(/[;.]/)
    handler.receive_data("a;b.c")

    assert_equal %w[a b], handler.log
  end

  def test_the_delimiter_may_change_with_each_line
    assert_equal %w[a b c],
      read("a\nb1c2", 1) { |handler, line| handler.set_delimiter({"a" => :"1", "b" => "2"}.fetch(line, "\n")) }
  end

  def test_an_empty_delimiter_raises
    assert_raises(ArgumentError) { Log.new.set_delimiter("") }
    assert_raises(ArgumentError) { Log.new.set_delimiter(nil) }
  end

  def test_a_text_of_known_size_comes_at_once
    assert_equal ["3", ["a\nb"], :end, "next"],
      read("3\na\nbnext\n", 1, 2, 4) { |handler, line| handler.set_text_mode(3) if line == "3" }
  end

  def test_a_text_may_follow_a_text
    assert_equal [["1"], :end, ["23"], :end, ["4"], :end],
      read_text("1234", 1) { |handler, (data)| handler.set_text_mode((data.size == 1) ? 2 : 1) }
  end

  def test_a_text_of_size_0_is_skipped
    handler = Log.new
    handler.set_binary_mode(0)
    handler.receive_data("line\n")

    assert_equal ["line"], handler.log
    assert_raises(ArgumentError) { handler.set_text_mode(-1) }
  end

  def test_without_a_size_bytes_are_delivered_as_they_arrive
    handler = Log.new
    handler.set_text_mode
    handler.receive_data("a\n")
    handler.receive_data("b")

    assert_equal [["a\n"], ["b"]], handler.log
  end

  def test_bytes_given_back_are_read_before_the_following_ones
    seen = read("2\n12rest\nlast\n", 1) do |handler, line|
      handler.set_text_mode(2) if line == "2"
      handler.set_line_mode("x\ny") if line == ["12"]
    end

    assert_equal ["2", ["12"], "x", :end, "yrest", "last"], seen
  end

  def test_a_closed_connection_delivers_an_incomplete_text
    handler = Log.new
    handler.set_text_mode(10)
    handler.receive_data("12345")
    handler.unbind
    handler.unbind

    assert_equal [["12345"]], handler.log
  end

  def test_a_closed_connection_delivers_no_incomplete_line
    handler = Log.new
    handler.receive_data("unfinished")
    handler.unbind

    assert_empty handler.log
  end

  def test_an_error_in_receive_line_loses_no_other_line
    handler = Log.new { |_, line| raise "refused" if line == "bad" }

    assert_raises(RuntimeError) { handler.receive_data("a\nbad\nb\n") }
    handler.receive_data("c\n")

    assert_equal %w[a bad b c], handler.log
  end

  def test_after_close_connection_no_line_comes
    log = []
    closing = Module.new do
      include EM::P::LineText2

      define_method(:receive_line) { |line| close_connection.then { log << line } }
      define_method(:unbind) { |*| EM.stop }
    end
    em { EM.connect("127.0.0.1", serve(closing)) { |client| client.send_data("a\nb\nc\n") } }

    assert_equal ["a"], log
  end

  def test_very_many_lines_at_once_need_no_stack
    handler = Log.new
    handler.receive_data("line\n" * 100_000)

    assert_equal 100_000, handler.log.size
  end

  private

  # Reads a text that begins in text mode.
  def read_text(text, size)
    handler = Log.new { |log, data| yield log, data }
    handler.set_text_mode(1)
    text.scan(/.{1,#{size}}/m) { |part| handler.receive_data(part) }
    handler.log
  end
end
