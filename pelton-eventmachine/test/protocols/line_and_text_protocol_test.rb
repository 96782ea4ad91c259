# frozen_string_literal: true

require_relative "../helper"

class EventMachineLineAndTextProtocolTest < EventMachineTest
  class Log < EM::P::LineAndTextProtocol
    class << self
      attr_accessor :last
    end

    attr_reader :log

    def initialize
      super
      @log = []
      self.class.last = self
    end

    def receive_line(line)
      @log << line
      raise ArgumentError, "refused" if line == "bad"
      set_binary_mode(line[/\Abinary (\d+)/, 1]&.to_i) if line.start_with?("binary")
    end

    def receive_binary_data(data)
      @log << [data]
    end

    def receive_end_of_binary_data
      @log << :end
    end

    def receive_error(message)
      @log << [:error, message]
    end

    def unbind
      super
      EM.stop
    end
  end

  # Sends the parts to a server with the handler, and returns the handler's log.
  def read(*parts, handler: Log)
    em do
      EM.connect("127.0.0.1", serve(handler)) do |client|
        parts.each { |part| client.send_data(part) }
        client.close_connection_after_writing
      end
    end
    handler.last.log
  end

  def test_lines_and_binary_data
    assert_equal ["a", "binary 3", ["1\n2"], :end, "b"], read("a\r\nbinary 3\n1\n2b\nrest")
  end

  def test_binary_data_of_size_0_is_delivered
    assert_equal ["binary 0", [""], :end, "b"], read("binary 0\nb\n")
  end

  # Outside receive_line, too, nothing that has arrived is dropped.
  def test_an_unfinished_line_is_the_beginning_of_binary_data
    late = Class.new(Log) do
      def receive_data(_)
        super("abc")
        set_binary_mode(5)
        super("def\n")
      end
    end

    assert_equal [["abcde"], :end, "f"], read("x", handler: late)
  end

  def test_binary_data_to_the_end
    log = read("binary\n", "a\n")

    assert_equal "binary", log.first
    assert_equal "a\n", log.drop(1).join
  end

  def test_incomplete_binary_data_is_delivered
    assert_equal ["binary 10", ["123"]], read("binary 10\n123")
  end

  def test_a_line_may_have_16_kilobytes
    assert_equal ["a" * 16_384], read("#{"a" * 16_384}\n")
  end

  def test_a_longer_line_closes_the_connection
    assert_equal [[:error, "overlength line"]], read("a" * 16_385, "\nnext\n")
  end

  def test_binary_data_beyond_the_limit_closes_the_connection
    assert_equal ["binary 33554433", [:error, "overlength binary data"]], read("binary 33554433\nabc")
  end

  def test_an_error_in_receive_line_closes_its_connection_only
    assert_equal ["a", "bad", [:error, "refused"]], read("a\nbad\nb\n")
  end

  def test_without_receive_error_the_error_is_reported
    silent = Class.new(Log) { undef_method :receive_error }
    reported = []
    before = Pelton.on_error { |error| reported << error.message }
    read("bad\n", handler: silent)

    assert_equal ["refused"], reported
  ensure
    before ? Pelton.on_error(&before) : Pelton.on_error
  end
end
