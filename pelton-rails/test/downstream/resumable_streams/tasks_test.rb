# frozen_string_literal: true

require_relative "../../support/resumable_streams_program"

# Texts that tasks of the server write, on each Ruby: Solid Queue's fibers need 3.2.
class ResumableStreamsOfTasksTest < PeltonTest
  include ResumableStreamsProgram

  self.deadline = 120

  SETUP = APPLICATION.sub("Bundler.require", <<~RUBY) + DATABASE
    require "action_view/railtie"
    require "action_cable/engine"
    Bundler.require
  RUBY
  TEXTS = <<~RUBY
    require "pelton/http"
    require #{File.expand_path("../../support/channel_client", __dir__).dump}
    ActiveRecord::Migration.verbose = false
    ActiveRecord::Schema.define { create_table(:messages) { |table| table.resumable_stream :content } }
    class Message < ActiveRecord::Base
      resumable_stream :content
    end
    Message.create!
    module ApplicationCable
      class Connection < ActionCable::Connection::Base; end
      class Channel < ActionCable::Channel::Base; end
    end
    class TextChannel < ApplicationCable::Channel
      def subscribed = follow_stream(Message.first, :content, turbo: false)
    end
    class MessagesController < ActionController::Base
      def stream = follow_stream(Message.first, :content) { |event| "(\#{event.type})" }
      def show = render(inline: "<%= resumable_stream_tag Message.first, :content, src: '/stream' %>")
      def position
        Pelton::PubSub.keep("news")
        ActionCable.server.broadcast("news", "first")
        render plain: JSON.parse(Pelton::Rails::Cable.position("news")).keys.join
      end
    end
    TestApplication.routes.draw do
      mount ActionCable.server => "/cable"
      %w[stream show position].each { |action| get action, to: "messages#" + action }
    end
    ActionCable.server.config.cable = {"adapter" => "pelton"}
    ActionCable.server.config.disable_request_forgery_protection = true
  RUBY

  def test_a_page_and_a_channel_follow_a_text
    assert_equal <<~TEXT, rails_output(<<~RUBY, setup: SETUP)
      one
      <div id="message_1_content">one</div>, source: true
      <div id="message_1_content">one</div>, source: false
      (finished), removed: true
      news
    TEXT
      #{TEXTS}
      Pelton.run do
        port = Pelton::HTTP::Server.new(TestApplication).listen("tcp://127.0.0.1:0").port
        get = ->(path, **options) { Pelton::HTTP.get("http://127.0.0.1:\#{port}/\#{path}", **options) }
        show = -> { get.("show").body.then { |page| "\#{page[/<div.*div>/]}, source: \#{page.include?("source")}" } }
        ended, events = Pelton::Operation.new, +""
        writer = Pelton.spawn { Message.first.content_stream.write { |out| (out << "one") && ended.await } }
        client = ChannelClient.new(port, "TextChannel")
        puts client.await { |frame| frame.to_s.include?("update") }["message"]["text"], show.()
        follower = Pelton.spawn { get.("stream", stream: true).each { |piece| events << piece } }
        sleep 0.01 until events.include?("<template>one<")
        ended.succeed(true)
        [writer, follower].each(&:await)
        puts show.(), "\#{events[/\\(finished\\)/]}, removed: \#{events.include?(%(action="remove"))}"
        puts get.("position").body
      ensure
        Pelton.stop
      end
    RUBY
  end
end
