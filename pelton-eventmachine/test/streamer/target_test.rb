# frozen_string_literal: true

require "stringio"
require "tempfile"
require_relative "../helper"

class EventMachineStreamerTargetTest < EventMachineTest
  CONTENT = Random.new(3).bytes(200_000)

  # A wrapper of a connection, as em-http-request has one.
  Wrapper = Struct.new(:connection) do
    def send_data(data) = connection.send_data(data)
  end

  # A wrapper with the size of the queue, whose largest value it keeps.
  class Measuring < Wrapper
    attr_reader :most

    def get_outbound_data_size
      size = connection.get_outbound_data_size
      @most = [@most.to_i, size].max
      size
    end
  end

  # Streams by the block to a server's connection, and returns the data that the client receives.
  def receive(methods = {}, &stream)
    received = +""
    em do
      port = serve(handler({post_init: -> { stream.call(self) }}.merge(methods)))
      EM.connect("127.0.0.1", port, handler(receive_data: ->(data) { received << data }, unbind: -> { EM.stop }))
    end
    received
  end

  def close(connection, streamer) = streamer.callback { connection.close_connection_after_writing }

  def test_an_io_is_sent_by_a_wrapper
    assert_equal CONTENT,
      receive { |connection| close(connection, EM::IOStreamer.new(Wrapper.new(connection), StringIO.new(CONTENT))) }
  end

  def test_a_file_is_sent_by_a_wrapper
    with_file(CONTENT) do |path|
      assert_equal CONTENT,
        receive { |connection| close(connection, EM::FileStreamer.new(Wrapper.new(connection), path)) }
    end
  end

  def test_a_wrapper_with_the_size_of_its_queue_is_not_flooded
    wrapper = nil
    content = CONTENT * 20
    received = receive do |connection|
      wrapper = Measuring.new(connection)
      close(connection, EM::IOStreamer.new(wrapper, StringIO.new(content)))
    end

    assert_equal content.hash, received.hash
    assert_operator wrapper.most, :<=, EM::FileStreamer::BackpressureLevel + EM::FileStreamer::ChunkSize
  end

  def test_a_connections_own_send_data_is_used
    upcase = {send_data: ->(data) { super(data.upcase) }}
    text = "abc" * 30_000
    Tempfile.create("streamed") do |file|
      file.write(text)
      file.flush

      assert_equal text.upcase,
        receive(upcase) { |connection| close(connection, connection.stream_file_data(file.path)) }
    end
    assert_equal text.upcase,
      receive(upcase) { |connection| close(connection, EM::IOStreamer.new(connection, StringIO.new(text))) }
  end
end
