# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CableHeartTest < PeltonTest
  include CableClient

  def test_one_timer_for_all_and_none_when_they_are_gone
    serving(heartbeat: 0.03) do |url, cable|
      before = Pelton.stats[:timers]
      clients = Array.new(40) { connect(url) }
      heart = cable.instance_variable_get(:@heart)
      assert_equal 40, heart.size
      clients.each { |client| 2.times { assert_equal "ping", JSON.parse(client.socket.receive(timeout: 10))["type"] } }
      clients.each { |client| client.socket.abort }
      eventually { heart.size == 0 && !heart.instance_variable_get(:@timer) }

      assert connect(url).socket.receive
      assert before
    end
  end

  # Some clients take one for a message.
  def test_no_ping_of_websocket_before_a_client_was_silent
    serving(heartbeat: 0.02) do |url, cable|
      talking, silent = Array.new(2) { connect(url, protocols: [Pelton::Cable::EXTENDED]) }
      pings = [talking, silent].to_h { |client| [client, []] }
      pings.each do |client, list|
        client.socket.define_singleton_method(:send_frame) do |opcode, data|
          super(opcode, data).tap { list << opcode if opcode == Pelton::HTTP::WebSocketFrames::PONG }
        end
        Pelton.spawn do
          while (text = client.socket.receive)
            client.send(command: "pong") if client.equal?(talking) && text.include?("ping")
          end
        end
      end
      eventually { pings[silent].size == 3 }

      assert_equal [], pings[talking]
      assert_equal 2, cable.stats[:connections]
    end
  end

  # It answers no ping, so it is not there any more.
  def test_a_peer_that_is_gone_is_given_up
    serving(heartbeat: 0.003) do |url, cable|
      client = connect(url)
      client.socket.instance_variable_get(:@stream).pause
      eventually { cable.stats[:connections] == 0 }
    end
  end
end
