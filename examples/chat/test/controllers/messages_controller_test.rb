# frozen_string_literal: true

require "test_helper"

class MessagesControllerTest < ApplicationTest
  def setup
    @user = sign_in
    @room = Room.create(name: "Kitchen") { |room| room.creator = @user }
    @room.join(@user)
  end

  def send_message(text = "<i>tea</i>", client_id: "one", **headers)
    post("/rooms/#{@room.id}/messages", {message: {text: text, client_id: client_id}}, **headers)
    Message.order(:id).last
  end

  def test_a_message_is_posted_once
    2.times { send_message }

    assert_operator response["location"], :end_with?, "#message_#{Message.first.id}"
    follow_redirect!

    assert_response 200, "Kitchen", "&lt;i&gt;tea", "Ann"
    assert_equal 1, Message.count
    assert_equal Message.first.id, @room.reload.last_message_id
  end

  def test_a_post_that_is_sent_again_is_announced_once
    announced = []
    Announcement.stub(:message, ->(message) { announced << message.id }) { 2.times { send_message } }

    assert_equal 1, announced.size
  end

  def test_a_refusal_is_shown_with_what_was_typed
    post "/rooms/#{@room.id}/messages", message: {text: "tea" * 4000, client_id: "one"}

    assert_response 422, "is longer than", "#{"tea" * 4000}</textarea>"
  end

  def test_scripts_get_json
    send_message("tea", "HTTP_ACCEPT" => "application/json")

    assert_equal 201, response.status
    assert_equal Message.first.id, json_response.fetch("id")
    send_message(" ", :client_id => "two", "HTTP_ACCEPT" => "application/json")

    assert_response 422
  end

  def test_who_is_no_member_finds_nothing
    message = send_message
    sign_in(create_user("bob@example.com"))
    path = "/rooms/#{@room.id}"
    [["GET", path], ["GET", "#{path}/messages"], ["POST", "#{path}/messages"],
      ["GET", "#{path}/messages/#{message.id}"], ["DELETE", "#{path}/messages/#{message.id}"],
      ["POST", "#{path}/messages/#{message.id}/reactions"], ["GET", "#{path}/edit"],
      ["DELETE", path]].each do |verb, address|
      custom_request(verb, address, message: {text: "x"}, emoji: "👍")

      assert_response 404
    end
    assert_equal 1, Message.count
  end

  def test_its_author_changes_it
    message = send_message
    patch "/rooms/#{@room.id}/messages/#{message.id}", message: {text: "coffee"}
    get "/rooms/#{@room.id}"

    assert_response 200, "coffee", "edited"
    bob = create_user("bob@example.com")
    @room.join(bob)
    sign_in(bob)
    patch "/rooms/#{@room.id}/messages/#{message.id}", message: {text: "mine"}

    assert_response 403
    post "/rooms/#{@room.id}/messages/#{message.id}/reactions", emoji: "🎉"
    post "/rooms/#{@room.id}/messages/#{message.id}/reactions", emoji: "nothing"

    assert_response 422
    get "/rooms/#{@room.id}"

    assert_response 200, "coffee", "🎉 1"
    bob.tap(&:admin!).save_changes
    delete "/rooms/#{@room.id}/messages/#{message.id}"

    assert_equal 0, Message.count
  end

  def test_scripts_change_it_in_its_place
    path = "/rooms/#{@room.id}/messages/#{send_message("*tea*").id}"
    get path, {}, "HTTP_ACCEPT" => "application/json"

    assert_equal({"text" => "*tea*"}, json_response)
    patch path, {message: {text: "coffee"}}, "HTTP_ACCEPT" => "application/json"

    assert_equal @room.reload.version, json_response.fetch("version")
    assert_match(/coffee/, json_response.fetch("html"))
    patch path, {message: {text: " "}}, "HTTP_ACCEPT" => "application/json"

    assert_equal 422, response.status
    assert_equal "text is not present", json_response.fetch("error")
  end

  def test_older_ones_and_newer_ones
    50.times { |number| send_message("number #{number}!", client_id: "n#{number}") }
    get "/rooms/#{@room.id}"

    assert_includes response.body, "number 10!"
    refute_includes response.body, "number 9!"
    before = response.body[/data-before="(\d+)"/, 1]
    get "/rooms/#{@room.id}/messages?before=#{before}"

    assert_equal 10, response.body.scan("<li class=\"message\"").size
    refute_includes response.body, "data-before"
    get "/rooms/#{@room.id}/messages?after=#{Message.order(:id).select_map(:id)[-3]}"

    assert_equal ["number 48!", "number 49!"], response.body.scan(/number \d+!/)
  end

  def test_the_keyboard_reaches_the_field_past_the_messages
    get "/rooms/#{@room.id}"
    link, list, field = ["href=\"#message_text\"", "id=\"messages\"", "id=\"message_text\""].map do |part|
      response.body.index(part)
    end

    assert_equal [link, list, field], [link, list, field].sort
  end

  def test_the_same_page_again_is_304
    send_message
    get "/rooms/#{@room.id}"
    header "If-None-Match", response["etag"]
    get "/rooms/#{@room.id}"

    assert_response 304
    send_message(client_id: "two")
    get "/rooms/#{@room.id}"

    assert_response 200
  end
end
