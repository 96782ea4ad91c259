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
      wait_until { events.include?("Hel") }
      page = Pelton::HTTP.get(url + "/messages/1").body
      puts page[/<div.*div>/], page[/<turbo-stream-source.*>/]
      again = follow(url + "/messages/1/stream", events.scan(/id: (\\S+)/).last.first)
      MODEL.say("lo", nil)
      [events, again].each { |one| one.task.await }
      puts again.lines.grep(/data/), events.lines.grep(/data/)
      page = Pelton::HTTP.get(url + "/messages/1").body
      puts page[/<div.*div>/], page.include?("source")
    RUBY

    assert_equal <<~TEXT, output
      200
      <div id="message_1_content" style="white-space: pre-wrap">Hel&lt;b&gt;</div>
      <turbo-stream-source id="message_1_content_source" src="/messages/1/stream"></turbo-stream-source>
      data: <turbo-stream action="append" target="message_1_content"><template>lo</template></turbo-stream>
      data: <turbo-stream action="remove" target="message_1_content_source"></turbo-stream>
      data: <turbo-stream action="update" target="message_1_content"><template>Hel&lt;b&gt;</template></turbo-stream>
      data: <turbo-stream action="append" target="message_1_content"><template>lo</template></turbo-stream>
      data: <turbo-stream action="remove" target="message_1_content_source"></turbo-stream>
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
      puts events.lines.grep(/data/), Message.find(1).content_state
    RUBY

    assert_equal <<~TEXT, output
      data: <turbo-stream action="update" target="message_1_content"><template>half</template></turbo-stream>
      data: <turbo-stream action="update" target="message_1_content"><template></template></turbo-stream>
      data: <turbo-stream action="append" target="message_1_content"><template>whole</template></turbo-stream>
      data: <turbo-stream action="remove" target="message_1_content_source"></turbo-stream>
      finished
    TEXT
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
      puts events.lines.grep(/data/)[-2], Message.find(1).content_run
    RUBY

    assert_equal "interrupted\ndata: <turbo-stream action=\"append\" target=\"message_1_content\"><template>whole</template></turbo-stream>\n2\n", output
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
      puts Pelton.map(1..4) { Message.create!(talk: talk) && 1 rescue $!.message }.tally.sort_by(&:last).map(&:reverse).flatten
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
    versions = %w[7.0 7.2].select { |version| RailsProgram.installed?(version) }
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
          job = Pelton.spawn { Message.create!.content_stream.write { |out| (out << "one") && (sleep(0.01) until events.include?("one")) } }
          sleep 0.01 until Message.any?
          Pelton::HTTP.get(url, stream: true).each { |piece| events << piece }
          job.await
          puts events.lines.grep(/data/)
        ensure
          Pelton.stop
        end
      RUBY

      assert_equal <<~TEXT, output, version
        data: <turbo-stream action="update" target="message_1_content"><template>one</template></turbo-stream>
        data: <turbo-stream action="remove" target="message_1_content_source"></turbo-stream>
      TEXT
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
