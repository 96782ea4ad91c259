# frozen_string_literal: true

require "test_helper"

class ApiControllerTest < ApplicationTest
  def setup
    @room = Room.create(name: "Kitchen")
    @bot, @token = Bot.make("Tea bot", nil)
    @room.join(@bot.user)
  end

  def say(text, token: @token, room: @room, scheme: "Bearer")
    header "Authorization", "#{scheme} #{token}"
    send_json :post, "/api/rooms/#{room.id}/messages", {text: text}
  end

  def test_a_bot_posts
    say("hello")

    assert_response 201
    assert_equal [@bot.user_id, "hello"], Message.with_pk!(json_response.fetch("id")).values.values_at(:user_id, :text)
    say(" ")

    assert_response 422
  end

  def test_not_too_often_however_the_header_is_spelled
    60.times { say(" ") }

    assert_response 422
    say(" ", scheme: "bearer")

    assert_response 429
  end

  def test_who_may_not
    say("x", token: "wrong")

    assert_response 401
    say("x", room: Room.create(name: "Other"))

    assert_response 404
    @bot.user.active = false
    say("x")

    assert_response 401
    assert_equal 0, Message.count
    refute_includes @bot.values.values, @token
  end
end
