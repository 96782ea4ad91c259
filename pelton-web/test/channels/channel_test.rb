# frozen_string_literal: true

require_relative "../support/cable_application"

class WebChannelTest < PeltonTest
  include CableApplication

  Missing = Class.new(StandardError) { def web_status = 404 }
  Busy = Class.new(StandardError) { def web_status = 503 }

  class RoomChannel < Pelton::Web::Channel
    def subscribed
      raise Missing, "no room" if params.integer(:id) == 9
      raise Busy, "too many at once" if params.integer(:id) == 8
      stream_from("room:#{params.integer(:id)}")
    end

    def speak(data) = broadcast("room:#{params.integer(:id)}", {text: data.string(:text, max: 5), raw: data["text"]})

    def stop = stop_all_streams
  end

  NAME = RoomChannel.name

  def test_typed_parameters
    cable_application do |url|
      client = connect(url)

      assert_equal "confirm_subscription", client.subscribe(NAME, id: "7")
      client.perform(NAME, "speak", {text: "hello"}, id: "7")

      assert_equal({"text" => "hello", "raw" => "hello"}, client.receive["message"])
    end
  end

  def test_what_would_be_a_response_rejects_or_refuses
    log = StringIO.new
    Pelton.logger = log
    cable_application do |url, application|
      client = connect(url)

      assert_equal(%w[reject_subscription] * 3,
        [{id: "x"}, {}, {id: 9}].map { |params| client.subscribe(NAME, **params) })
      client.subscribe(NAME, id: 1)
      client.perform(NAME, "speak", {text: "too long"}, id: 1)
      client.perform(NAME, "speak", {text: "short"}, id: 1)

      assert_equal "short", client.receive["message"]["text"]
      assert_equal({refused: 4, errors: 0, rejected: 3}, application.cable.stats.slice(:refused, :errors, :rejected))
    end
    assert_match(/cable: refuses a command: WebChannelTest::RoomChannel: .*id/, log.string)
  ensure
    Pelton.logger = $stderr
  end

  def test_what_may_succeed_a_moment_later_rejects_nothing
    cable_application do |url, application|
      client = connect(url)
      reports = Pelton::Test.unrescued do
        client.send(command: "subscribe", identifier: client.identifier(NAME, id: 8), retry: true)
        assert_equal "retry_subscription", client.receive["type"]
      end

      assert_equal ["too many at once"], reports.map(&:message)
      assert_equal({errors: 1, rejected: 0}, application.cable.stats.slice(:errors, :rejected))
    end
  end
end
