# frozen_string_literal: true

require "stringio"
require_relative "../helper"

class EventMachineIOStreamerTest < EventMachineTest
  def receive(content, **options)
    received = +""
    em do
      port = serve(handler(post_init: lambda do
        EM::IOStreamer.new(self, StringIO.new(content), options).callback { close_connection_after_writing }
      end))
      EM.connect("127.0.0.1", port, handler(receive_data: ->(data) { received << data }, unbind: -> { EM.stop }))
    end
    received
  end

  def test_it_sends_all
    content = Random.bytes(2_000_000)

    assert_equal content, receive(content)
    assert_equal "", receive("")
  end

  def test_chunked_transfer_coding
    assert_equal "3\r\nabc\r\n0\r\n\r\n", receive("abc", http_chunks: true)
  end
end
