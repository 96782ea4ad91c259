# frozen_string_literal: true

require "test_helper"

class MessagesControllerTest < ApplicationTest
  def setup
    @user = sign_in
    post "/rooms", room: {name: "Kitchen"}
    @room = Room.first
  end

  def test_a_message_is_posted_once
    2.times { post "/rooms/#{@room.id}/messages", message: {text: "<i>tea</i>", client_id: "one"} }
    follow_redirect!

    assert_response 200, "Kitchen", "&lt;i&gt;tea", "Ann"
    assert_equal [1, Message.first.id], [Message.count, @room.reload.last_message_id]
  end
end
