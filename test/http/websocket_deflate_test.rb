# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require "pelton/http"
require "pelton/http/websocket"

class WebSocketDeflateTest < PeltonTest
  Message = Struct.new(:data, :rsv1)

  def test_a_message_there_and_back
    server, client = sessions(1_000_000)
    ["abc " * 1000, Random.new(2).bytes(70_000), "x" * 999_999].each do |text|
      message = server.process_outgoing_message(Message.new(text.b, false))
      assert message.rsv1
      assert_equal text.b, client.process_incoming_message(message).data
    end
  end

  def test_short_messages_are_not_compressed
    server, = sessions(1000)
    message = server.process_outgoing_message(Message.new("short", false))

    assert_equal ["short", false], message.to_a
  end

  def test_a_bomb_is_not_inflated
    server, = sessions(1000)
    bomb = Zlib::Deflate.new(nil, -15).deflate("\0" * 50_000_000, Zlib::SYNC_FLUSH)[0...-4]

    assert_includes 1001..100_000, server.process_incoming_message(Message.new(bomb, true)).data.bytesize
    exact = Zlib::Deflate.new(nil, -15).deflate("\0" * 1000, Zlib::SYNC_FLUSH)[0...-4]
    assert_equal 1000, server.process_incoming_message(Message.new(exact, true)).data.bytesize
    beyond = Zlib::Deflate.new(nil, -15).deflate("\0" * 1001, Zlib::SYNC_FLUSH)[0...-4]
    assert_equal 1001, server.process_incoming_message(Message.new(beyond, true)).data.bytesize
  end

  def test_what_is_broken_is_told
    server, = sessions(1000)

    assert_raises(Zlib::Error) { server.process_incoming_message(Message.new("\xff\xff\xff".b, true)) }
  end

  def test_no_context_is_kept_between_messages
    server, client = sessions(1000)

    assert_equal true, server.generate_response["server_no_context_takeover"]
    assert_equal true, client.generate_offer["server_no_context_takeover"]
  end

  private

  def sessions(limit)
    extension = Pelton::HTTP::WebSocketDeflate.extension(limit)
    client = extension.create_client_session
    server = extension.create_server_session([client.generate_offer])
    assert client.activate(server.generate_response)
    [server, client]
  end
end
