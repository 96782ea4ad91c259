# frozen_string_literal: true

require "test_helper"
require "pelton"
require "pelton/rails/resumable_streams"

# What needs no Rails; the rest is in downstream/resumable_streams_test.rb.
class RailsResumableStreamsFollowingTest < PeltonTest
  Name = Struct.new(:param_key)
  Record = Struct.new(:to_key, :content_stream) do
    def model_name = Name.new("message")
  end
  # They stand for Action Cable's connection, and for Pelton's client and session of it.
  Connection = Struct.new(:pelton_client) do
    def try(name) = public_send(name)
  end
  Client = Struct.new(:session)
  Session = Struct.new(:followed) do
    def follow(*arguments, &block) = followed << [*arguments, block]
  end

  class Channel
    include Pelton::Rails::ResumableStreams::Following

    attr_reader :connection

    def initialize(session) = @connection = Connection.new(Client.new(session))

    def identifier = "answers"

    def pelton_follow(following) = following
  end

  def test_messages_are_turbos_elements_unless_the_channel_wants_the_events
    session = Session.new([])
    channel = Channel.new(session)
    record = Record.new([1], :stream)
    channel.follow_stream(record, :content)
    channel.follow_stream(record, :content, turbo: false)

    assert_equal [["answers", :stream, nil]] * 2, session.followed.map { |arguments| arguments.first(3) }
    elements, events = session.followed.map(&:last)
    event = Pelton::ResumableStream::Event.new(:begin, "1:0")
    assert_match(/<turbo-stream action="update" target="message_1_content">/, elements.call(event))
    assert_nil events
  end
end
