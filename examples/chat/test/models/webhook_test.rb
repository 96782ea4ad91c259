# frozen_string_literal: true

require "test_helper"

class WebhookTest < ApplicationTest
  include Pelton::Test

  def setup
    @requests = []
    @answers = []
    @room = Room.create(name: "Kitchen")
    @ann = create_user
    @room.join(@ann)
  end

  # A server that gives these answers, one after the other.
  def serving(*answers)
    in_reactor(timeout: 20, leftovers: true) do
      server = Pelton::HTTP::Server.new(lambda do |env|
        @requests << JSON.parse(env["rack.input"].read)
        answers.shift || [200, {}, []]
      end)
      port = server.listen("tcp://127.0.0.1:0").port
      @bot, = Bot.make("Tea bot#{Bot.count.then { |number| " #{number}" if number.positive? }}",
        "http://localhost:#{port}/hook")
      @room.join(@bot.user)
      yield
    end
  end

  def said(text = "@tea.bot please") = Message.post(@room, @ann, text: text, client_id: SecureRandom.uuid)

  # To this machine.
  def call(bot, message)
    Webhook.call(bot, message, delay: 0.001, client: Pelton::HTTP::Client.new(proxy: nil, max_body: Webhook::LARGEST))
  end

  def test_the_reply_is_posted
    serving([200, {"content-type" => "text/plain"}, ["here <you> are"]]) do
      reply = call(@bot, said)

      assert_equal ["here <you> are", @bot.user_id], reply.values.values_at(:text, :user_id)
      assert_equal "@tea.bot please", @requests[0]["message"]["text"]
      assert_equal "Kitchen", @requests[0]["room"]["name"]
      assert_equal "ann", @requests[0]["user"]["handle"]
    end
  end

  def test_failures_are_tried_again
    serving([500, {}, []], [503, {}, []], [204, {}, []]) do
      assert_nil call(@bot, said)
      assert_equal 3, @requests.size
    end
    serving(*Array.new(9) { [500, {}, []] }) do
      assert_raises(Pelton::ConnectionError) { call(@bot, said) }
      assert_equal 3 + Webhook::ATTEMPTS, @requests.size
    end
  end

  def test_a_reply_that_is_too_long
    serving([200, {"content-type" => "text/plain"}, ["x" * (Webhook::LARGEST + 1)]]) do
      assert_raises(Pelton::Error) { call(@bot, said) }
      assert_equal 1, Message.count
    end
  end

  def test_the_own_network_is_not_reached
    serving do
      assert_raises(Pelton::HTTP::AddressError) { Webhook.call(@bot, said) }
      assert_empty @requests
    end
  end

  def test_mentioned_members_alone_are_called
    serving do
      called = []
      Webhook.stub(:call, ->(bot, one) { called << [bot.id, one.text] }) do
        ["hello", "@tea.bot hi", "`@tea.bot`", "@ann"].each { |text| Webhook.call_mentioned(said(text)) }
        Webhook.call_mentioned(Message.post(Room.create(name: "Other"), @ann, text: "@tea.bot", client_id: "o"))
        Pelton::Background.drain_all(timeout: 5)
      end

      assert_equal [[@bot.id, "@tea.bot hi"]], called
    end
  end
end
