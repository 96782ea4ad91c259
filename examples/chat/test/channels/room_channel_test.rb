# frozen_string_literal: true

require "test_helper"
require "pelton/cable/test"
require "pelton/test"

class RoomChannelTest < ApplicationTest
  include Pelton::Cable::Test
  include Pelton::Test

  # Presence needs a reactor.
  def run = in_reactor(timeout: 30, leftovers: true) { super() }

  def setup
    @ann, @bob = create_user, create_user("bob@example.com")
    @room = Room.create(name: "Kitchen") { |room| room.creator = @ann }
    [@ann, @bob].each { |user| @room.join(user) }
  end

  def enter(user = @bob) = subscribe(RoomChannel, {id: @room.id}, user: user)

  def test_what_happens_in_the_room
    page = enter
    sign_in(@ann)
    post "/rooms/#{@room.id}/messages", message: {text: "tea", client_id: "1"}
    path = "/rooms/#{@room.id}/messages/#{Message.first.id}"
    patch path, message: {text: "coffee"}
    post "#{path}/reactions", emoji: "👍"
    delete path
    messages = page.messages.reject { |message| message.key?("presence") }

    assert_equal %w[message edit edit delete], messages.map { |message| message["type"] }
    assert_includes messages[1]["html"], "coffee"
    assert_includes messages[2]["html"], "👍 1"
    assert_equal [2, 3], messages[1..2].map { |message| message["version"] }
  end

  def test_typing_is_passed_on_now_and_then
    page = enter(@ann)
    writer = enter
    3.times { writer.perform("typing") }

    assert_equal [%w[typing Bob]],
      page.messages.select { |message| message["type"] == "typing" }.map { |message| message.values_at("type", "name") }
  end

  def test_typing_is_not_kept
    offset = -> { JSON.parse(Pelton::Cable.position(@room.stream)).dig(@room.stream, "offset") }
    Pelton::Cable.broadcast(@room.stream, {type: "message"})
    before = offset.call
    enter.perform("typing")

    assert_equal before, offset.call
  end

  def test_reading
    message = Message.post(@room, @ann, text: "tea", client_id: "1")
    enter.perform("read", id: message.id)

    refute Sidebar.new(@bob).entry(@room.id).unread
  end

  # Not on the page of one who has an older message in view.
  def test_reading_removes_the_marks_on_all_devices
    device = subscribe(SidebarChannel, user: @bob)
    message = Message.post(@room, @ann, text: "tea", client_id: "1")
    Announcement.message(message)
    reads = -> { device.messages.filter_map { |one| one.values_at("room", "message") if one["type"] == "read" } }
    2.times { enter.perform("read", id: message.id) }

    assert_equal [[@room.id, message.id]], reads.call
    own = Message.post(@room, @bob, text: "more tea", client_id: "2")
    Announcement.message(own)

    assert_equal [[@room.id, own.id]], reads.call
  end

  def types(subscription) = subscription.messages.filter_map { |message| message["type"] }

  def test_who_was_removed_hears_and_says_nothing_more
    page = enter
    other = enter(@ann)
    sign_in(@ann)
    delete "/rooms/#{@room.id}/memberships/#{@bob.id}"

    assert_equal %w[members gone], types(page)
    page.perform("typing")
    Pelton::Cable.broadcast(@room.stream, {type: "message"})

    assert_equal [], types(page)
    assert_equal %w[members message], types(other)
  end

  def test_who_was_removed_hears_of_no_news
    sidebar = subscribe(SidebarChannel, user: @bob)
    sign_in(@ann)
    delete "/rooms/#{@room.id}/memberships/#{@bob.id}"
    sidebar.messages
    Pelton::Cable.broadcast(@room.news, {type: "news", room: @room.id, message: 1})

    assert_empty sidebar.messages
  end

  def test_who_is_mentioned_and_the_members_of_a_conversation_are_told
    eve = create_user("eve@example.com")
    ann, bob, out = [@ann, @bob, eve].map { |user| subscribe(SidebarChannel, user: user) }
    titles = ->(page) { page.messages.filter_map { |message| message["title"] } }
    Announcement.message(Message.post(@room, @ann, text: "@bob, @ann and @eve: tea?", client_id: "1"))
    Announcement.message(Message.post(@room, @ann, text: "tea", client_id: "2"))

    assert_equal ["Ann in Kitchen"], titles.call(bob)
    Announcement.message(Message.post(Room.direct([@ann, @bob]), @bob, text: "tea", client_id: "1"))

    assert_equal ["Bob"], titles.call(ann)
    assert_empty titles.call(out), "a stranger learns nothing of the room"
    assert_empty titles.call(bob), "nor the author"
  end

  def test_a_sign_in_that_has_ended_ends_the_connections
    pages = [enter, subscribe(SidebarChannel, user: @bob)]
    closed = []
    pages.each do |page|
      page.channel.connection.define_singleton_method(:close) { |**options| closed << options[:reason] }
    end
    @bob.active = false
    pages.each(&:messages)

    assert_equal %w[signed_out signed_out], closed
  end

  def test_the_sidebar_is_told_what_came_before_it_listened
    Message.post(@room, @ann, text: "tea", client_id: "1")

    assert_equal [[@room.id]], subscribe(SidebarChannel, user: @bob).messages.map { |one| one["rooms"] }
  end

  def test_strangers_are_rejected
    refute_predicate enter(create_user("eve@example.com")), :confirmed?
  end

  def test_the_sidebar_hears_of_the_users_rooms_alone
    Room.create(name: "Other").join(@ann)
    sidebar = subscribe(SidebarChannel, user: @bob)
    Room.order(:id).all.each { |room| Pelton::Cable.broadcast(room.news, {type: "news", room: room.id}) }

    assert_equal [@room.id], sidebar.messages.filter_map { |message| message["room"] }
  end
end
