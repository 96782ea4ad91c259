# frozen_string_literal: true

require_relative "../helper"

class EventMachineStompTest < EventMachineTest
  class Client
    include EM::P::Stomp

    attr_reader :sent, :messages

    def initialize
      @sent = []
      @messages = []
    end

    def send_data(data) = @sent << data

    def receive_msg(message) = @messages << [message.command, message.headers, message.body]
  end

  CONTENT = "content-type: text/plain; charset=UTF-8"

  def setup
    @client = Client.new
  end

  def test_sent_frames
    @client.connect(login: "guest", passcode: "secret")
    @client.send(:"/queue", "\u221A", receipt: 1)
    @client.subscribe("/queue")
    @client.subscribe("/queue", true)
    @client.ack("7")

    assert_equal [
      "CONNECT\nlogin:guest\npasscode:secret\ncontent-length: 0\n#{CONTENT}\n\n\0",
      "SEND\nreceipt:1\ndestination:/queue\ncontent-length: 3\n#{CONTENT}\n\n\u221A\0",
      "SUBSCRIBE\ndestination:/queue\nack:auto\ncontent-length: 0\n#{CONTENT}\n\n\0",
      "SUBSCRIBE\ndestination:/queue\nack:client\ncontent-length: 0\n#{CONTENT}\n\n\0",
      "ACK\nmessage-id:7\ncontent-length: 0\n#{CONTENT}\n\n\0"
    ], @client.sent
  end

  def test_a_header_with_a_line_end_is_refused
    assert_raises(ArgumentError) { @client.send(:"/queue\nreceipt:1", "") }
    assert_raises(ArgumentError) { @client.subscribe("/queue\0") }
    assert_empty @client.sent
  end

  def test_received_frames
    text = "CONNECTED\nsession: 5\n\n\0\n\nMESSAGE\ncontent-length: 3\na:b:c\n\na\0b\0\nMESSAGE\r\n\r\nbody\n\0\n"

    [text.size, 1, 7].each do |size|
      client = Client.new
      text.scan(/.{1,#{size}}/m) { |part| client.receive_data(part) }

      assert_equal [["CONNECTED", {"session" => "5"}, ""], ["MESSAGE", {"content-length" => "3", "a" => "b:c"}, "a\0b"],
        ["MESSAGE", {}, "body\n"]], client.messages
    end
  end

  def test_the_reader_can_be_reset
    @client.receive_data("MESSAGE\na:b\nhalf a line")
    @client.init_message_reader
    @client.receive_data("CONNECTED\n\n\0")

    assert_equal [["CONNECTED", {}, ""]], @client.messages
  end
end
