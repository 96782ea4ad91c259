# frozen_string_literal: true

require "test_helper"

class MessageTest < ApplicationTest
  def setup
    @ann, @bob = create_user, create_user("bob@example.com")
    @room = Room.create(name: "Kitchen") { |room| room.creator = @ann }
    [@ann, @bob].each { |user| @room.join(user) }
  end

  def post(text = "tea", user: @ann, client_id: SecureRandom.uuid)
    Message.post(@room, user, text: text, client_id: client_id)
  end

  def versions
    before = @room.reload.version
    yield
    @room.reload.version - before
  end

  def test_it_is_posted_once
    first = post(client_id: "one")

    assert_equal first.id, post(client_id: "one").id
    refute_equal first.id, post(user: @bob, client_id: "one").id
  end

  def test_each_change_changes_the_room
    message = nil
    assert_equal 1, versions { message = post }
    assert_equal 1, versions { message.edit("coffee") }
    assert_equal 1, versions { message.react(@bob, "👍") }
    assert_equal({"👍" => [@bob.id]}, Message.with_pk!(message.id).reactions_by_emoji)
    assert_equal 1, versions { message.react(@bob, "👍") }
    assert_empty Message.with_pk!(message.id).reactions_by_emoji
    assert_equal 0, versions { assert_predicate post(" "), :new? }
    assert_equal 1, versions { message.remove }
  end

  def test_what_is_unread
    message = post

    assert Sidebar.new(@bob).entry(@room.id).unread
    refute Sidebar.new(@ann).entry(@room.id).unread
    Membership.read(@room.id, @bob.id, message.id)

    refute Sidebar.new(@bob).entry(@room.id).unread
    Membership.read(@room.id, @bob.id, 1)

    refute Sidebar.new(@bob).entry(@room.id).unread
  end

  def search(user, text) = MessageSearch.new(user, text).messages

  def test_search
    wanted = post("The Quick brown fox's héllo")
    other = Room.create(name: "Other").tap { |room| room.join(@bob) }
    Message.post(other, @bob, text: "quick as well", client_id: "x")

    ["quick", "QUICK fo", "hello", "fox's", "brown-fox"].each do |words|
      assert_equal [wanted.id], search(@ann, words).map(&:id), words
    end
    assert_equal 2, search(@bob, "quick").size
    ["slow", "", "*", "' --", "quick slow"].each { |words| assert_empty search(@ann, words), words }
    wanted.edit("slow")

    assert_equal 1, search(@ann, "slow").size
    assert_equal 0, search(@ann, "quick").size
    wanted.remove

    assert_empty search(@ann, "slow")
  end

  # The words of addresses, paths and versions, and letters without their accents, in each database.
  def test_search_finds_parts
    {"Café au lait, Ärger" => %w[cafe café arger
      ÄRG], "see https://example.com/pull/4711?a=b_c now" => %w[4711 pull example com example.com/pull c],
     "mail foo-bar/baz.txt to a.b@example.org" => %w[bar baz txt foo-bar org],
     "error in lib/app_server.rb:42" => %w[app_server server rb 42],
     "version 2.5.1, -7 and 1e5" => %w[5 2.5.1 7 1e5], "привет, 東京 3d" => %w[привет при 東京 3d]}.each do |text, all|
      wanted = post(text)
      all.each { |words| assert_includes search(@ann, words).map(&:id), wanted.id, words }
    end
    assert_empty search(@ann, "\u0301")
  end

  def test_pages
    ids = Array.new(100) { post.id }
    list = MessageList.new(@room)

    assert_equal ids.last(40), list.groups.flat_map(&:ids)
    assert_equal ids[60], list.older
    assert_equal list.groups[2].ids, list.groups[2].messages.map(&:id)
    before = MessageList.new(@room, before: list.older)

    assert_equal ids[20...60], before.groups.flat_map(&:ids)
    kept = before.groups.map(&:key)
    Message.with_pk!(ids[30]).edit("new")

    assert_equal 1,
      MessageList.new(@room, before: list.older).groups.map(&:key).zip(kept).count { |new, old| new != old }
    assert_nil MessageList.new(@room, before: ids[20]).older
  end
end
