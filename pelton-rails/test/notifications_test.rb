# frozen_string_literal: true

require "test_helper"
require "pelton/memcached"
require "pelton/rails/notifications"

class RailsNotificationsTest < PeltonTest
  def test_events_come_as_active_supports
    forwarded = Pelton::Rails::Notifications.forward(/memcached/)
    seen, errors = [], []
    parts = ActiveSupport::Notifications.subscribe("command.memcached") do |name, start, ending, _id, payload|
      seen << [name, start.class, ending >= start, payload.slice(:command, :key, :hit)]
    end
    whole = ActiveSupport::Notifications.subscribe("command.memcached") do |event|
      errors << [event.payload[:exception]&.first, event.duration.class]
    end
    Pelton::Memcached::Client.new("127.0.0.1:#{with_memcached}").get("k")
    assert_raises(Pelton::ConnectionError) { Pelton::Memcached::Client.new("127.0.0.1:#{free_port}").get("k") }

    assert_equal [
      ["command.memcached", Time, true, {command: :get, key: "k", hit: false}],
      ["command.memcached", Time, true, {command: :get, key: "k"}]
    ], seen
    assert_equal [[nil, Float], ["Pelton::ConnectionError", Float]], errors
  ensure
    Pelton::Notifications.unsubscribe(forwarded)
    [parts, whole].each { |one| ActiveSupport::Notifications.unsubscribe(one) }
  end
end
