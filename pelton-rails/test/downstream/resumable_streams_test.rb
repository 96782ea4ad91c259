# frozen_string_literal: true

require_relative "../support/resumable_streams_program"

# Texts in models, as the guide has them.
class RailsResumableStreamsTest < PeltonTest
  include ResumableStreamsProgram

  self.deadline = 240

  def test_a_page_shows_an_answer_while_it_comes_and_after_a_reload
    output = guide_output(<<~RUBY)
      page = Pelton::HTTP.post(url + "/messages", body: "question=why")
      puts page.status
      MODEL.say("Hel<b>")
      events = follow(url + "/messages/1/stream")
      wait_until { events.include?("Hel") && Message.find(1).content == "Hel<b>" }
      page = Pelton::HTTP.get(url + "/messages/1").body
      puts page[/<div.*div>/], page[/<turbo-stream-source.*>/]
      again = follow(url + "/messages/1/stream", events.scan(/id: (\\S+)/).last.first)
      MODEL.say("lo", nil)
      [events, again].each { |one| one.task.await }
      puts elements(again), elements(events)
      page = Pelton::HTTP.get(url + "/messages/1").body
      puts page[/<div.*div>/], page.include?("source")
    RUBY

    assert_equal <<~TEXT, output
      200
      <div id="message_1_content" style="white-space: pre-wrap">Hel&lt;b&gt;</div>
      <turbo-stream-source id="message_1_content_source" src="/messages/1/stream"></turbo-stream-source>
      append lo
      finished
      remove
      update Hel&lt;b&gt;
      append lo
      finished
      remove
      <div id="message_1_content" style="white-space: pre-wrap">Hel&lt;b&gt;lo</div>
      false
    TEXT
  end

  # In fibers where it waits; in threads with its next piece.
  def test_a_page_cancels_an_answer
    {"fibers: 5" => "", "threads: 2" => "MODEL.say('more')"}.each do |pool, more|
      output = guide_output(<<~RUBY, pool: pool)
        Pelton::HTTP.post(url + "/messages", body: "question=why")
        MODEL.say("half")
        events = follow(url + "/messages/1/stream")
        wait_until { events.include?("half") }
        Pelton::HTTP.post(url + "/messages/1/cancel")
        #{more}
        events.task.await
        wait_until { all_done? }
        message = Message.find(1)
        puts MODEL.left, message.content, message.content_state, SolidQueue::FailedExecution.count
      RUBY

      assert_equal "true\nhalf\ncancelled\n0\n", output, pool
    end
  end

  def test_a_failure_reaches_the_page_and_a_retry_makes_the_answer_anew
    output = guide_output(<<~RUBY)
      AnswerJob.retry_on(IOError, wait: 0)
      Pelton::HTTP.post(url + "/messages", body: "question=why")
      events = follow(url + "/messages/1/stream?turbo=false")
      MODEL.say("half")
      wait_until { events.include?("half") }
      MODEL.say(IOError.new("cut"))
      wait_until { Message.find(1).content_run == 2 }
      MODEL.say("whole", nil)
      events.task.await
      puts elements(events).join(", "), Message.find(1).content_state
    RUBY

    assert_equal "update half, failed, update , update whole, finished, remove\nfinished\n", output
  end

  def test_a_worker_that_stops_interrupts_the_answer_and_another_makes_it_anew
    output = guide_output(<<~RUBY)
      SolidQueue.shutdown_timeout = 0.1
      Message.create!.tap { |message| AnswerJob.perform_later(message) }
      events = follow(url + "/messages/1/stream")
      other = SolidQueue::Worker.new(queues: "*", fibers: 2, polling_interval: 0.01).tap { |one| one.mode = :async }
      MODEL.say("half")
      wait_until { events.include?("half") }
      Pelton.offload { worker.stop }
      puts Message.find(1).content_state
      other.start
      MODEL.say("whole", nil)
      events.task.await
      Pelton.offload { other.stop }
      puts elements(events).join(", "), Message.find(1).content_run
    RUBY

    assert_equal "interrupted\nupdate half, interrupted, update , update whole, finished, remove\n2\n", output
  end

  def test_its_own_events_and_a_position
    output = guide_output(<<~RUBY)
      class MessagesController
        def raw = follow_stream(show, :content, turbo: false)
      end
      Rails.application.routes.draw { get "raw/:id", to: "messages#raw" }
      message = Message.create!
      message.content_stream.write { |out| out << "Hello" }
      response = Pelton::HTTP.get(url + "/raw/1?after=1:3")
      puts response["content-type"], response.body
    RUBY

    assert_equal "text/event-stream\nid: 1:5\ndata: lo\n\nevent: finished\nid: 1:5\ndata: \n\n", output
  end

  CABLE = <<~RUBY
    require "action_cable/engine"
    config.action_cable.cable = {"adapter" => "pelton"}
    config.action_cable.disable_request_forgery_protection = true
    config.action_cable.mount_path = "/cable"
  RUBY
  CHANNELS = <<~RUBY
    require #{File.expand_path("../support/channel_client", __dir__).dump}
    module ApplicationCable
      class Connection < ActionCable::Connection::Base; end
      class Channel < ActionCable::Channel::Base; end
    end
    PORT = Integer(url[/\\d+\\z/])
  RUBY

  # Its element is Turbo's, and its client knows no positions.
  def test_a_page_follows_an_answer_over_action_cable
    output = guide_output(CHANNELS + <<~RUBY, config: CABLE)
      message = Message.create!.tap { |one| AnswerJob.perform_later(one) }
      page = ApplicationController.helpers.resumable_stream_tag(message, :content)
      puts page.sub(/(signed-stream-name=").*?"/) { $1 + '"' }.sub('waiting', 'running')
      name = CGI.unescapeHTML(page[/signed-stream-name="(.*?)"/, 1])
      subscribe = -> do
        ChannelClient.new(PORT, "Pelton::Rails::ResumableStreams::Channel", params: {signed_stream_name: name})
      end
      told = lambda do |client|
        nil while (text = elements(client.message)).empty? # the state "running"
        text
      end
      client = subscribe.()
      MODEL.say("Hel")
      puts told.(client)
      client.socket.close
      client = subscribe.()
      puts told.(client)
      MODEL.say("lo", nil)
      puts told.(client), told.(client)
      puts ChannelClient.new(PORT).tap { |one| one.await { |frame| frame["type"] == "welcome" } }
        .subscribe("Pelton::Rails::ResumableStreams::Channel", signed_stream_name: name.reverse)
      puts ApplicationController.helpers.resumable_stream_tag(message, :content)
    RUBY

    assert_equal <<~TEXT, output
      <div id="message_1_content"></div><span id="message_1_content_state" role="status" data-state="running"></span><turbo-cable-stream-source id="message_1_content_source" channel="Pelton::Rails::ResumableStreams::Channel" signed-stream-name=""></turbo-cable-stream-source>
      update Hel
      update Hel
      append lo
      finished
      remove
      reject_subscription
      <div id="message_1_content">Hello</div><span id="message_1_content_state" role="status" data-state="finished"></span>
    TEXT
  end

  def test_a_channel_s_client_comes_back_to_where_it_was
    output = guide_output(CHANNELS + <<~RUBY, config: CABLE)
      class AnswerChannel < ApplicationCable::Channel
        def subscribed = follow_stream(Message.find(params[:id]), :content, turbo: false)
      end
      Message.create!.tap { |message| AnswerJob.perform_later(message) }
      extended = {protocols: ["actioncable-v1-ext-json"]}
      text = ->(frame) { frame["message"].is_a?(Hash) && frame["message"]["event"] != "running" }
      client = ChannelClient.new(PORT, "AnswerChannel", params: {id: 1}, **extended)
      MODEL.say("Hel")
      frame = client.await(&text)
      client.socket.abort
      puts frame["message"].to_json, frame.values_at("stream_id", "epoch", "offset").join(" ")
      MODEL.say("lo")
      wait_until { Message.find(1).content == "Hello" }
      client = ChannelClient.new(PORT, **extended)
      identifier = {channel: "AnswerChannel", id: 1}.to_json
      history = {streams: {frame["stream_id"] => frame.slice("epoch", "offset")}}
      client.await { |one| one["type"] == "welcome" }
      client.socket.write({command: "subscribe", identifier: identifier, history: history}.to_json)
      puts client.await(&text)["message"].to_json
      MODEL.say(IOError.new("cut"))
      puts client.await(&text)["message"].to_json
      puts Pelton::ResumableStream::Feed.size
      client.socket.write({command: "unsubscribe", identifier: identifier}.to_json)
      wait_until { Pelton::ResumableStream::Feed.size.zero? }
    RUBY

    assert_equal <<~TEXT, output
      {"event":"update","text":"Hel"}
      pelton-text:messages:1:content 1 3
      {"event":"append","text":"lo"}
      {"event":"failed","error":"IOError"}
      1
    TEXT
  end

  # Also when two requests do it at once: the conversation's row is locked.
  def test_one_answer_for_each_conversation
    output = guide_output(<<~RUBY)
      ActiveRecord::Base.connection.create_table(:talks) {}
      ActiveRecord::Base.connection.add_column(:messages, :talk_id, :integer)
      Message.reset_column_information
      class Talk < ApplicationRecord; end
      class Message
        belongs_to :talk, optional: true
        resumable_stream :content, one_per: :talk
      end
      talk = Talk.create!
      puts Pelton.map(1..4) { Message.create!(talk: talk) && 1 rescue $!.message }.tally.sort_by(&:last)
        .map(&:reverse).flatten
      Message.create!(talk: talk, content_state: "finished")
      Message.create!(talk: Talk.create!)
      Message.last.update!(question: "why")
      Message.first.content_stream.cancel
      Message.create!(talk: talk)
      puts Message.count
    RUBY

    assert_equal ["1", "1", "3", "this talk has a content that is being written: cancel it, or wait for its end", "4"],
      output.lines(chomp: true)
  end

  # On Rails 7.0 its Rack 2 would read a stream to its end, for an ETag.
  def test_a_stream_on_other_versions_of_rails
    versions = %w[7.0 7.2].select { |version| RailsProgram.gems(version).installed? }
    skip "bin/setup downstream brings Rails 7" if versions.empty?
    versions.each do |version|
      output = rails_output(<<~RUBY, setup: APPLICATION + DATABASE, version: version)
        require "pelton/http"
        ActiveRecord::Migration.verbose = false
        #{guide_files.fetch("db/migrate/20261128000000_create_messages.rb")}
        CreateMessages.new.change
        class Message < ActiveRecord::Base
          resumable_stream :content
        end
        class StreamsController < ActionController::Base
          def show = follow_stream(Message.first, :content)
        end
        TestApplication.routes.draw { get "/stream", to: "streams#show" }
        Pelton.run do
          url = "http://127.0.0.1:\#{Pelton::HTTP::Server.new(TestApplication).listen("tcp://127.0.0.1:0").port}/stream"
          events = +""
          job = Pelton.spawn do
            Message.create!.content_stream.write { |out| (out << "one") && (sleep(0.01) until events.include?("one")) }
          end
          sleep 0.01 until Message.any?
          Pelton::HTTP.get(url, stream: true).each { |piece| events << piece }
          job.await
          puts events.scan(/<turbo-stream action="(\\w+)"/).join(" "), events[/<template>(one)</, 1]
        ensure
          Pelton.stop
        end
      RUBY

      assert_equal ["replace update replace remove", "one"], output.lines(chomp: true), version
    end
  end

  # A text that is followed for an hour holds none.
  def test_a_stream_holds_no_database_connection
    output = guide_output(<<~RUBY)
      Message.create!.tap { |message| AnswerJob.perform_later(message) }
      MODEL.say("half")
      streams = Array.new(8) { follow(url + "/messages/1/stream") }
      wait_until { streams.all? { |one| one.include?("half") } }
      puts ActiveRecord::Base.connection_pool.stat[:busy]
      Message.find(1).content_stream.cancel
      streams.each { |one| one.task.await }
      puts streams.count { |one| one.include?("remove") }
    RUBY
    busy, ended = output.split.map(&:to_i)

    assert_operator busy, :<, 4
    assert_equal 8, ended
  end
end
