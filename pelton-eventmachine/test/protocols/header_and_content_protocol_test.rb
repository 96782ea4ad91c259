# frozen_string_literal: true

require_relative "../helper"

class EventMachineHeaderAndContentProtocolTest < EventMachineTest
  class Log < EM::P::HeaderAndContentProtocol
    class << self
      attr_accessor :log
    end

    def receive_first_header_line(line) = note(:first, line)

    def receive_headers(lines) = note(:headers, lines)

    def receive_request(lines, content) = note(:request, lines, content)

    def unbind
      super
      EM.stop
    end

    private

    def note(*what) = self.class.log << what
  end

  def read(text)
    Log.log = []
    em do
      EM.connect("127.0.0.1", serve(Log)) do |client|
        client.send_data(text)
        client.close_connection_after_writing
      end
    end
    Log.log
  end

  def requests(text) = read(text).select { |what,| what == :request }.map { |_, *request| request }

  def test_callbacks_come_in_order
    assert_equal [[:first, "GET /"], [:headers, ["GET /", "Content-Length: 2"]],
      [:request, ["GET /", "Content-Length: 2"], "ab"]],
      read("\r\nGET /\r\nContent-Length: 2\r\n\r\nab")
  end

  def test_requests_may_follow_each_other
    assert_equal [[["a", "content-length: 3"], "x\ny"], [["b"], ""], [["c", "Content-length: 0"], ""]],
      requests("a\ncontent-length: 3\n\nx\nyb\n\nc\nContent-length: 0\n\n")
  end

  def test_only_content_length_sets_the_length_of_the_content
    assert_equal [[["a", "X-Content-length: 3"], ""]], requests("a\nX-Content-length: 3\n\nabc")
  end

  def test_a_second_length_closes_the_connection
    assert_equal [[:first, "a"]], read("a\nContent-length: 1\nContent-length: 2\n\nxyz\n\n")
  end

  def test_an_incomplete_content_is_delivered
    assert_equal [[["a", "Content-length: 5"], "xy"]], requests("a\nContent-length: 5\n\nxy")
  end

  def test_headers_as_a_hash
    expected = {foo_bar: "b", x: "y:z"}

    assert_equal expected, Log.headers_2_hash(["Foo-Bar: a", "x:y:z", "Foo-Bar: b", "nothing"])
    assert_equal expected, Log.allocate.headers_2_hash(["Foo-Bar: b", "x: y:z"])
  end
end
