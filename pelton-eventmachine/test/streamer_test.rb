# frozen_string_literal: true

require "tempfile"
require_relative "helper"

class EventMachineStreamerTest < EventMachineTest
  def receive(content, &send)
    received = +""
    Tempfile.create("streamed") do |file|
      file.write(content)
      file.flush
      em do
        port = serve(handler(post_init: -> { send.call(self, file.path) }))
        EM.connect("127.0.0.1", port, handler(receive_data: ->(data) { received << data }, unbind: -> { EM.stop }))
      end
    end
    received
  end

  def test_a_small_file_is_sent_at_once
    assert_equal("x" * 32_768, receive("x" * 32_768) do |connection, path|
      connection.send_file_data(path)
      connection.close_connection_after_writing
    end)
  end

  def test_a_file_of_any_size_is_streamed
    content = Random.bytes(3_000_000)

    assert_equal(content, receive(content) do |connection, path|
      connection.stream_file_data(path).callback { connection.close_connection_after_writing }
    end)
  end

  def test_data_that_is_sent_meanwhile_follows_the_file
    content = Random.bytes(1_000_000)

    assert_equal("before#{content}behind".b, receive(content) do |connection, path|
      connection.send_data("before")
      connection.stream_file_data(path)
      connection.send_data("behind")
      connection.close_connection_after_writing
    end)
  end

  def test_it_fails_when_the_peer_closes
    message = nil
    Tempfile.create("streamed") do |file|
      file.write("x" * 30_000_000)
      file.flush
      em do
        port = serve(handler(post_init: lambda do
          stream_file_data(file.path).errback do |why|
            message = why
            EM.stop
          end
        end))
        EM.connect("127.0.0.1", port, handler(receive_data: ->(_) { close_connection }))
      end
    end

    refute_nil message
  end

  def test_chunked_transfer_coding
    assert_equal("4000\r\n#{"y" * 16_384}\r\n1\r\ny\r\n0\r\n\r\n", receive("y" * 16_385) do |connection, path|
      connection.stream_file_data(path, http_chunks: true).callback { connection.close_connection_after_writing }
    end)
  end

  def test_mistakes
    message = nil
    em do
      EM.connect("127.0.0.1", serve) do |connection|
        connection.stream_file_data("/nowhere/at/all").errback { |why| message = why }
        assert_raises(IOError) { connection.send_file_data("/nowhere/at/all") }
        assert_raises(RuntimeError) { connection.send_file_data(File.join(ROOT, "lib/pelton/pelton.so")) }
      end
      EM.stop
    end

    assert_equal "file not found", message
  end
end
