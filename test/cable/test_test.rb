# frozen_string_literal: true

require "test_helper"
require "pelton/cable/test"
require "pelton/resumable_stream"

class CableTestTest < PeltonTest
  include Pelton::Cable::Test

  class NotesChannel < Pelton::Cable::Channel
    def subscribed
      return reject unless connection.user == "ann"
      stream_from("notes:#{params[:id]}")
      stream_from("loud") { |message| transmit(message.upcase) }
    end

    def unsubscribed = broadcast("left", connection.user)

    def add(data) = broadcast("notes:#{params[:id]}", {text: data["text"]})

    def quiet = stop_stream_from("loud")

    def fail = raise(KeyError, "no")
  end

  class TextChannel < Pelton::Cable::Channel
    def subscribed = follow_stream(text)

    def quiet = unfollow_stream(text)

    private

    def text = Pelton::ResumableStream.new("answer:#{params[:id]}", Pelton::ResumableStream::Memory.new)
  end

  class Client < Pelton::Cable::Connection
    identified_by :user

    def connect = self.user = cookies["user"] || session["user"] || env["REMOTE_USER"] || reject_unauthorized_connection
  end

  def test_a_subscription
    subscription = subscribe(NotesChannel, {id: 7}, user: "ann")

    assert_predicate subscription, :confirmed?
    assert_equal %w[notes:7 loud], subscription.streams
    subscription.perform("add", text: :milk)
    Pelton::Cable.broadcast("loud", "hey")

    assert_equal [{"text" => "milk"}, "HEY"], subscription.messages
    assert_empty subscription.messages
    assert_equal ["notes:7"], subscription.perform("quiet").streams
    assert_equal ["ann"], broadcasts("left") { subscription.unsubscribe }
    assert_empty subscription.streams
  end

  def test_texts_that_a_channel_follows
    subscription = subscribe(TextChannel, {id: 7}, user: "ann")

    assert_equal ["answer:7"], subscription.texts
    assert_empty subscription.perform("quiet").texts
  end

  def test_a_rejected_one
    subscription = subscribe(NotesChannel, user: "bob")

    assert_predicate subscription, :rejected?
    assert_empty subscription.streams
  end

  def test_an_unknown_action_is_refused_and_an_error_raised
    subscription = subscribe(NotesChannel, connection: connect(Client, session: {"user" => "ann"}))

    assert_match(/has no action "nothing"/, subscription.perform("nothing").refusal)
    assert_raises(KeyError) { subscription.perform("fail") }
  end

  def test_a_connection
    assert_equal "ann", connect(Client, cookies: {"user" => "ann"}).user
    assert_equal "bob", connect(Client, env: {"REMOTE_USER" => "bob"}).user
    assert_raises(Pelton::Cable::Connection::Unauthorized) { connect(Client) }
  end

  def test_broadcasts
    assert_equal([{"a" => 1}], assert_broadcasts("notes", 1) { Pelton::Cable.broadcast("notes", {a: 1}) })
    error = assert_raises(Minitest::Assertion) { assert_broadcasts("notes", 1) { nil } }

    assert_match(/broadcasts on "notes": \[\]/, error.message)
  end
end
