# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_peer"

# 2,000 members, one of whom does not read.
class WebSocketRoomIntegrationTest < PeltonTest
  self.deadline = 120

  include WebSocketPeer

  def test_who_does_not_read_delays_nobody_and_costs_little
    if Process.getrlimit(:NOFILE).first < 6000
      Process.setrlimit(:NOFILE, 6000, [6000, Process.getrlimit(:NOFILE).last].max)
    end
    count, messages, text = 2000 / SLOW, 60, "x" * 10_000
    Pelton.run do
      room = Pelton::HTTP::WebSocket::Room.new(max_bytes: 100_000)
      received = Array.new(count, 0)
      count.times { |index| join(room).on_data { |bytes| received[index] += bytes.bytesize } }
      peer = join(room)
      silent = room.to_a.last
      most = 0
      messages.times do
        room.broadcast(text)
        most = [most, silent.pending].max
        eventually { room.all? { |socket| socket.equal?(silent) || socket.pending.zero? } }
      end
      eventually { received.sum == count * messages * (text.bytesize + 4) }

      assert_equal [messages * (text.bytesize + 4)], received.uniq
      assert_operator most, :<=, 100_000 + 10_004
      assert_equal count, room.size
      assert_equal false, room.include?(silent)
      assert_equal 1, room.stats[:dropped]
      assert_operator Pelton.stats[:parked], :<, 10
      refute_predicate peer, :closed?
    ensure
      Pelton.stop
    end
  end
end
