# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/websocket_peer"
require "pelton/test"

class WebSocketRoomTest < PeltonTest
  include WebSocketPeer

  WebSocket = Pelton::HTTP::WebSocket
  Room = WebSocket::Room
  Message = Pelton::HTTP::WebSocketMessage
  LIMIT = 10_000
  BIG = "x" * 300_000 # more than what lies between two sockets

  def test_each_member_gets_each_message_in_order
    within_a_room do |room|
      peers = Array.new(3) { join(room) }
      members = room.to_a
      assert_equal 3, room.broadcast("ä")
      assert_equal 2, room.broadcast("but one", except: members[1])
      assert_equal 3, room.broadcast("\xff".b)

      expected = [[:text, "ä".b], [:text, "but one"], [:binary, "\xff".b]]
      assert_equal [expected, expected.values_at(0, 2), expected],
        peers.each_with_index.map { |peer, index| Array.new((index == 1) ? 2 : 3) { next_frame(peer) } }
      assert_equal({members: 3, broadcasts: 3, sent: 8, dropped: 0}, room.stats)
    end
  end

  # As when a trap handler strikes while the list of members is made, and waits.
  def test_who_comes_while_the_list_is_made_is_in_the_next_one
    within_a_room do |room|
      join(room)
      members = room.instance_variable_get(:@members)
      members.define_singleton_method(:keys) { super().tap { singleton_class.remove_method(:keys) && @join.call } }
      members.instance_variable_set(:@join, -> { join(room) })

      assert_equal 1, room.to_a.size
      assert_equal 2, room.to_a.size
    end
  end

  def test_members
    within_a_room do |room|
      assert_empty room
      peer = join(room)
      socket = room.first
      room << socket

      assert_equal 1, room.size
      assert_equal true, room.include?(socket)
      assert_equal [socket], room.each.to_a
      assert_equal "#<Pelton::HTTP::WebSocket::Room 1 members>", room.inspect
      assert_same socket, room.delete(socket)
      assert_nil room.delete(socket)
      assert_equal 0, room.size
      assert_equal false, socket.closed?
      assert_equal 0, room.broadcast("nobody")
      room.add(socket)
      peer.abort
      eventually { room.empty? }
      room.add(socket)
      assert_empty room, "a closed socket has joined"
    end
  end

  def test_a_socket_that_closes_leaves_all_of_its_rooms
    within_a_room do |room|
      other, third = Room.new, Room.new
      peer = join(room)
      socket = room.first
      [other, third].each { |one| one.add(socket) }
      third.delete(socket)
      socket.on_close { third.add(socket) }
      peer.write(frame(:close, [1000].pack("S>")))
      eventually { socket.closed? }

      assert_equal [0, 0, 0], [room, other, third].map(&:size)
    end
  end

  # Through the whole server, with and without compression.
  def test_a_message_is_encoded_once_and_compressed_once
    room = Room.new
    text = "all work and no play " * 100
    app = ->(env) { WebSocket.accept(env) { |socket| room.add(socket).then { socket.receive } } }
    with_server(app) do |url|
      sockets = [true, true, true, false, false].map { |deflate| WebSocket.connect(url, deflate: deflate) }
      eventually { room.size == 5 }
      frames = 0
      TracePoint.new(:call) { |point| frames += 1 if point.method_id == :frame && point.self == Message }.enable do
        room.broadcast(text)
      end

      assert_equal 2, frames
      assert_equal [text] * 5, sockets.map(&:receive)
    end
  end

  def test_clients_may_be_members
    with_echo do |url|
      room = Room.new
      sockets = Array.new(3) { WebSocket.connect(url).tap { |socket| room.add(socket) } }
      room.broadcast("from all")

      assert_equal ["from all"] * 3, sockets.map(&:receive)
    end
  end

  # ---- rooms with a topic

  def test_members_of_a_room_whose_topic_has_lost_messages
    pubsub = Pelton::PubSub.new
    Pelton.run do
      rooms = %i[close drop].map { |slow| Room.new("t", pubsub: pubsub, slow: slow) }
      peers = rooms.map { |room| join(room) }
      pubsub._lost
      eventually { rooms.map(&:size) == [0, 1] }
      rooms.last.publish("on")

      assert_equal [[:close, "\x03\xF5messages are lost".b], [:text, "on"]], peers.map { |peer| next_frame(peer) }
    ensure
      Pelton.stop
    end
  end

  def test_rooms_of_a_topic_get_what_is_published_on_it
    pubsub = Pelton::PubSub.new
    Pelton.run do
      one, two, other = %w[t t other].map { |topic| Room.new(topic, pubsub: pubsub) }
      peers = [one, one, two, other].map { |room| join(room) }
      assert_equal 3, pubsub.stats[:subscriptions]
      one.publish("to both")
      Thread.new { pubsub.publish("t", "\xff".b) }.join
      eventually { two.stats[:sent] == 2 }
      one.broadcast("to one")

      expected = [[:text, "to both"], [:binary, "\xff".b], [:text, "to one"]]
      assert_equal [expected, expected, expected.first(2)],
        peers.first(3).map { |peer| Array.new(peer.equal?(peers[2]) ? 2 : 3) { next_frame(peer) } }
      assert_equal 0, other.stats[:broadcasts]
      assert_raises(Pelton::Error) { Room.new.publish("nobody") }
    ensure
      Pelton.stop
    end
  end

  def test_a_room_is_subscribed_while_it_has_members
    pubsub = Pelton::PubSub.new
    within_a_room("t", pubsub: pubsub) do |room|
      assert_equal 0, pubsub.stats[:subscriptions]
      peer = join(room)
      join(room)
      assert_equal 1, pubsub.stats[:subscriptions]
      room.delete(room.to_a.last)
      peer.abort
      eventually { room.empty? }

      assert_equal 0, pubsub.stats[:subscriptions]
      assert_equal 0, pubsub.publish("t", "nobody").to_i + room.stats[:sent]
      peer = join(room)
      room.publish("again")
      assert_equal [:text, "again"], next_frame(peer)
    end
  end

  # ---- members that are slow

  def test_a_slow_member_is_closed_with_1013
    within_a_room(max_bytes: LIMIT) do |room|
      slow, quick = join(room), join(room)
      assert_equal 2, room.broadcast(BIG)
      assert_equal BIG, next_frame(quick).last
      assert_equal 1, room.broadcast("second")
      assert_equal({members: 1, broadcasts: 2, sent: 3, dropped: 1}, room.stats)

      assert_equal [:text, "second"], next_frame(quick)
      assert_equal [:text, BIG], next_frame(slow)
      assert_equal [:close, [1013].pack("S>") + "too slow"], next_frame(slow)
    end
  end

  def test_a_slow_member_may_miss_messages
    within_a_room(max_bytes: LIMIT, slow: :drop) do |room|
      slow = join(room)
      room.broadcast(BIG)
      5.times { |number| assert_equal 0, room.broadcast("lost #{number}") }
      assert_equal BIG, next_frame(slow).last
      assert_equal 1, room.broadcast("last")

      assert_equal [:text, "last"], next_frame(slow)
      assert_equal({members: 1, broadcasts: 7, sent: 2, dropped: 5}, room.stats)
    end
  end

  # The block may wait, and change the room: all others have the message by then.
  def test_a_block_decides
    seen = []
    room = Room.new(max_bytes: LIMIT) do |socket, message|
      sleep 0.001
      seen << message
      raise "no" if seen.size == 1
      room.add(server_socket(Pelton::Stream.pair.first))
      socket.abort
    end
    within(room) do
      slow = Array.new(2) { join(room) }
      room.broadcast(BIG)
      quick = join(room)
      reports = Pelton::Test.unrescued { assert_equal 1, room.broadcast("second") }

      assert_equal ["second"] * 2, seen
      assert_equal ["no"], reports.map(&:message)
      assert_equal 3, room.size
      assert_equal [:text, "second"], next_frame(quick)
      assert_operator slow.last.read.bytesize, :<, BIG.bytesize
    end
  end

  def test_a_member_whose_connection_has_ended_concerns_nobody_else
    within_a_room do |room|
      peers = Array.new(3) { join(room) }
      peers[1].abort
      assert_includes 2..3, room.broadcast(BIG)

      assert_equal [BIG] * 2, peers.values_at(0, 2).map { |peer| next_frame(peer).last }
      eventually { room.size == 2 }
    end
  end

  def test_policies_that_there_are_not
    assert_match(/:close, :drop or callable, not :wait/, assert_raises(ArgumentError) { Room.new(slow: :wait) }.message)
    within_a_room { |room| assert_raises(ArgumentError) { room.broadcast("\xff") } }
    assert_raises(Pelton::NotRunningError) { Room.new.broadcast("x") }
  end

  # ---- joining and leaving

  def test_joining_and_leaving_while_others_iterate
    within_a_room do |room|
      peers = Array.new(20) { join(room) }
      visited = 0
      room.each do |socket|
        visited += 1
        room.delete(socket)
        peers << join(room)
        Pelton::Reactor.current.yield
      end

      assert_equal 20, visited
      assert_equal 20, room.size
      assert_equal 20, room.broadcast("x")
      assert_equal ["x"] * 20, peers.last(20).map { |peer| next_frame(peer).last }
    end
  end

  def test_many_talk_join_and_leave_at_once
    within_a_room do |room|
      talking = Array.new(20) do |number|
        Pelton.spawn do
          20.times do |turn|
            peer = join(room)
            socket = room.to_a.last
            room.broadcast("#{number}.#{turn}")
            Pelton::Reactor.current.yield
            turn.even? ? peer.abort : room.delete(socket)
          end
        end
      end
      talking.each(&:await)
      eventually { room.empty? }

      assert_equal 400, room.stats[:broadcasts]
    end
  end

  private

  def within(room)
    Pelton.run do
      yield room
    ensure
      Pelton.stop
    end
  end

  def within_a_room(*topic, **options, &block) = within(Room.new(*topic, **options), &block)
end
