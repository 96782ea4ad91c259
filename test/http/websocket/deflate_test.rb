# frozen_string_literal: true

require "zlib"
require_relative "../../test_helper"
require_relative "../../support/signals"
require "pelton/http"
require "pelton/http/websocket"

class WebSocketDeflateTest < PeltonTest
  include Signals

  Deflate = Pelton::HTTP::WebSocketDeflate

  def test_a_message_there_and_back
    server, client = agreed(1_000_000)
    ["abc " * 1000, Random.new(2).bytes(70_000), "x" * 999_999].each do |text|
      assert_equal text.b, client.inflate(server.deflate(text))
      assert_equal text.b, server.inflate(client.deflate(text))
    end
  end

  def test_the_size_of_the_window_is_agreed
    server, client = agreed(1000, "client_max_window_bits" => 10, "server_max_window_bits" => 8)

    assert_equal 9, server.window_bits
    assert_equal 10, client.window_bits
    text = Random.new(3).bytes(400) * 2
    assert_equal text, client.inflate(server.deflate(text))
    assert_equal text, server.inflate(client.deflate(text))
  end

  def test_a_bomb_is_not_inflated
    server, = agreed(1000)
    bomb = Zlib::Deflate.new(nil, -15).deflate("\0" * 50_000_000, Zlib::SYNC_FLUSH)[0...-4]

    assert_includes 1001..100_000, server.inflate(bomb).bytesize
    exact = Zlib::Deflate.new(nil, -15).deflate("\0" * 1000, Zlib::SYNC_FLUSH)[0...-4]
    assert_equal 1000, server.inflate(exact).bytesize
    beyond = Zlib::Deflate.new(nil, -15).deflate("\0" * 1001, Zlib::SYNC_FLUSH)[0...-4]
    assert_equal 1001, server.inflate(beyond).bytesize
  end

  def test_what_is_broken_is_told
    server, = agreed(1000)

    assert_raises(Zlib::Error) { server.inflate("\xff\xff\xff") }
  end

  def test_signals_do_not_disturb
    assert_equal "true", under_signals(<<~RUBY)
      require "pelton/http/websocket/deflate"
      text = "word " * 2000
      codec = Pelton::HTTP::WebSocketDeflate.new(15, 15, 1 << 20)
      print Array.new(10_000) { codec.inflate(codec.deflate(text)) }.all?(text)
    RUBY
  end

  def test_no_context_is_kept_between_messages
    extension = Deflate.extension(1000)

    assert_equal true, extension.create_client_session.generate_offer["server_no_context_takeover"]
    assert_equal true, extension.create_server_session([{}]).generate_response["server_no_context_takeover"]
    server, client = agreed(10_000)
    2.times { assert_equal "a" * 999, client.inflate(server.deflate("a" * 999)) }
    assert_equal server.deflate("b" * 999), server.deflate("b" * 999)
  end

  def test_who_does_not_agree
    extension = Deflate.extension(1000)
    assert_nil extension.agreed
    extension.create_server_session([{"unknown" => true}])
    assert_nil extension.agreed
    session = extension.create_client_session
    refute session.activate({"unknown" => true})
    assert_nil extension.agreed
  end

  private

  def agreed(limit, parameters = nil)
    server, client = Array.new(2) { Deflate.extension(limit) }
    ours = client.create_client_session
    offer = ours.generate_offer.merge(parameters || {})
    response = server.create_server_session([offer]).generate_response
    assert ours.activate(response)
    [server.agreed, client.agreed]
  end
end
