# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsChannelTest < PeltonTest
  include Generating

  def test_the_first_channel
    generate("channel", "rooms", "speak")

    assert_equal %w[app/channels/rooms_channel.rb test/channels/rooms_channel_test.rb], written
    assert_includes text_of("app/channels/rooms_channel.rb"), <<~'RUBY'
      class RoomsChannel < Pelton::Web::Channel
        def subscribed = stream_from(stream)
      
        def speak(data) = broadcast(stream, {speak: data.string(:text, max: 2000)})
      
        private
      
        def stream = "rooms:#{params.integer(:id)}"
      end
    RUBY
    assert_includes text_of("app/channels/rooms_channel.rb"),
      "#   import { Cable } from \"/cable/client.js\"\n#   new Cable().subscribe(\"RoomsChannel\", "
    assert_includes text_of("config/routes.rb"), "Shop.routes do\n  mount Shop.cable, at: \"/cable\"\n"
    assert_includes text_of("test/channels/rooms_channel_test.rb"), "subscription.perform(\"speak\", text: \"hello\")"
  end

  def test_the_second
    2.times { |number| generate("channel", "room#{number}") }

    assert_equal 1, text_of("config/routes.rb").scan("mount").size
  end

  def test_in_a_module
    generate("channel", "Admin::RoomChannel")

    assert_includes text_of("app/channels/admin/room_channel.rb"),
      "module Admin\n  class RoomChannel < Pelton::Web::Channel\n"
    assert_includes text_of("app/channels/admin/room_channel.rb"), "\"admin:room:\#{params.integer(:id)}\""
  end

  def test_what_is_refused
    assert_includes refused("channel", "../room"), "cannot be the name of a channel"
    ["Speak", "a-b", "transmit", "params", "1"].each do |action|
      assert_includes refused("channel", "room", action), "cannot be an action"
    end
  end
end
