# frozen_string_literal: true

require "test_helper"

class RoomsControllerTest < ApplicationTest
  def setup
    @user = sign_in
    @bob = create_user("bob@example.com")
  end

  def make(name = "Kitchen", kind: "open")
    post "/rooms", room: {name: name, kind: kind}
    Room.order(:id).last
  end

  def test_an_open_room_is_made_joined_and_left
    room = make

    assert_redirected_to "/rooms/#{room.id}"
    sign_in(@bob)
    get "/rooms"

    assert_response 200, "Kitchen"
    2.times { post "/rooms/#{room.id}/memberships" }

    assert_equal [@user.id, @bob.id], room.users.map(&:id).sort
    delete "/rooms/#{room.id}/memberships/#{@user.id}"

    assert_response 403
    delete "/rooms/#{room.id}/memberships/#{@bob.id}"
    get "/rooms/#{room.id}"

    assert_response 404
  end

  def test_others_come_by_invitation
    room = make(kind: "invited")
    in_another_browser do
      sign_in(@bob)
      get "/rooms"
      refute_includes response.body, "Kitchen"
      post "/rooms/#{room.id}/memberships"

      assert_response 404
    end
    post "/rooms/#{room.id}/memberships", handle: "@Bob"
    follow_redirect!

    assert_response 200, "Bob is a member."
    post "/rooms/#{room.id}/memberships", handle: "@nobody"
    follow_redirect!

    assert_response 200, "Nobody is called @nobody."
    delete "/rooms/#{room.id}/memberships/#{@bob.id}"

    refute_includes room.users.map(&:id), @bob.id
  end

  def test_its_members
    room = make
    room.join(@bob)
    get "/rooms/#{room.id}/memberships"

    assert_response 200, "data-handle=\"ann\"", "data-handle=\"bob\"", "Leave"
    @bob.active = false
    get "/rooms/#{room.id}/memberships"

    refute_includes response.body, "data-handle=\"bob\""
    sign_in(create_user("eve@example.com"))
    get "/rooms/#{room.id}/memberships"

    assert_response 404
  end

  def test_who_made_it_changes_it
    room = make
    patch "/rooms/#{room.id}", room: {name: "Bathroom", kind: "invited", creator_id: @bob.id}

    room.reload
    assert_equal "Bathroom", room.name
    assert_equal :open, room.kind
    assert_equal @user.id, room.creator_id
    room.join(@bob)
    in_another_browser do
      sign_in(@bob)
      [["GET", "/edit"], ["PATCH", ""], ["DELETE", ""]].each do |verb, path|
        custom_request(verb, "/rooms/#{room.id}#{path}", room: {name: "mine"})

        assert_response 403
      end
    end
    delete "/rooms/#{room.id}"

    assert_equal 0, Room.count
    make("", kind: "open")

    assert_response 422, "is not present"
  end

  def test_a_deleted_room_takes_its_messages_along
    room = make
    post "/rooms/#{room.id}/messages", message: {text: "tea", client_id: "1"}, file: upload("a.txt", content: "text")
    file = app.settings.uploads.path(Attachment.first.file)
    Message.first.react(@user, "👍")
    delete "/rooms/#{room.id}"

    assert_equal [0] * 4, [Message, Attachment, Reaction, Membership].map(&:count)
    refute_path_exists file
    if Room.db.database_type == :sqlite
      assert_equal 0, Room.db[:message_words].where(Sequel.lit("message_words MATCH 'tea'")).count
    end
  end

  def test_an_old_page_reads_nothing
    room = make
    Message.post(room, @bob, text: "new", client_id: "1")
    get "/rooms/#{room.id}?before=1"

    assert Sidebar.new(@user).entry(room.id).unread
  end

  def test_a_conversation
    get "/directs/new?q=bo"

    assert_response 200, "@bob"
    post "/directs", user_id: @bob.id
    follow_redirect!

    assert_response 200, "<h1>Bob</h1>"
    delete "/rooms/#{Room.first.id}/memberships/#{@user.id}"

    assert_response 403
    post "/rooms", room: {name: "x", kind: "direct"}

    assert_response 422
  end

  def test_the_sidebar_and_the_search
    room = make
    Message.post(room, @bob, text: "the <b>kéttle</b>", client_id: "1")
    get "/sidebar"

    assert_response 200, "Kitchen", "unread"
    get "/rooms/#{room.id}"
    get "/sidebar"
    refute_includes response.body, "unread"
    get "/search?q=k%C3%A9tt"

    assert_response 200, "1 message", "&lt;b&gt;<mark>kétt</mark>le", "in Kitchen"
    assert_includes get("/search?q=KETT").body, "<mark>kétt</mark>" if Message.db.database_type == :sqlite
    # An accent alone is a word, too
    if Message.db.database_type == :sqlite
      assert_includes get("/search?q=k%C3%A9ttle+%CD%85").body, "<mark>kéttle</mark>"
    end
  end
end
