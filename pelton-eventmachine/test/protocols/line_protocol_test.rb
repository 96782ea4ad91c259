# frozen_string_literal: true

require_relative "../helper"

class EventMachineLineProtocolTest < EventMachineTest
  class Lines
    include EM::P::LineProtocol

    attr_reader :lines

    def receive_line(line)
      (@lines ||= []) << line
    end
  end

  def test_lines_in_any_pieces_come_without_their_end
    text = "one\r\n\n\r\ntwo\rthree\nrest"

    [text.size, 1, 2, 3].each do |size|
      handler = Lines.new
      text.scan(/.{1,#{size}}/m) { |part| handler.receive_data(part) }

      assert_equal ["one", "", "", "two\rthree"], handler.lines
      handler.receive_data("\n")

      assert_equal "rest", handler.lines.last
    end
  end

  def test_an_error_in_receive_line_loses_no_other_line
    handler = Lines.new
    handler.define_singleton_method(:receive_line) { |line| (line == "bad") ? raise(ArgumentError) : super(line) }

    assert_raises(ArgumentError) { handler.receive_data("good\nbad\nnext\n") }
    handler.receive_data("last\n")

    assert_equal %w[good next last], handler.lines
  end

  def test_on_a_connection
    lines = []
    protocol = Module.new do
      include EM::P::LineProtocol

      define_method(:receive_line) { |line| lines << line }
      define_method(:unbind) { EM.stop }
    end
    em do
      EM.connect("127.0.0.1", serve(protocol)) do |client|
        client.send_data("a\nb\nunfinished")
        client.close_connection_after_writing
      end
    end

    assert_equal %w[a b], lines
  end
end
