# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"
require "pelton/memcached/notifications"

class NotificationsTest < PeltonTest
  # A notifier with the interface of ActiveSupport::Notifications.
  class Notifier
    attr_reader :events

    def initialize = @events = []
    def publish(*event) = @events << event
  end

  def test_each_command_is_an_event
    notifier = Notifier.new
    cache = Pelton::Memcached::Client.new("127.0.0.1:#{with_memcached}", instrument: Pelton::Memcached::Notifications.new(notifier))
    before = Time.now
    cache.set("k", "v")
    cache.get("k")
    cache.get("absent")
    cache.get_multi("k", "absent")
    cache.version

    names, starts, ends, ids, payloads = notifier.events.transpose
    assert_equal %w[set get get get_multi version].map { |name| "#{name}.pelton_memcached" }, names
    assert_equal (starts + ends).sort, starts.zip(ends).flatten
    assert_operator starts.first, :>=, before
    assert_equal ids.uniq, ids
    assert_equal [{key: "k"}, {key: "k", hit: true}, {key: "absent", hit: false}, {key: %w[k absent]}, {key: nil}], payloads
  end

  # As ActiveSupport since 7.0: a block with one argument gets the event, any other block gets its parts.
  module Fanout
    class Event
      attr_reader :name, :transaction_id, :payload, :duration

      def initialize(name, start, ending, transaction_id, payload)
        @name, @transaction_id, @payload = name, transaction_id, payload
        @duration = ending.to_f - start.to_f
      end
    end

    class << self
      attr_accessor :event

      def publish_event(event) = self.event = event
    end
  end

  def test_a_notifier_of_events_gets_an_event
    Pelton::Memcached::Client.new("127.0.0.1:#{with_memcached}", instrument: Pelton::Memcached::Notifications.new(Fanout)).get("k")
    event = Fanout.event

    assert_kind_of Fanout::Event, event
    assert_equal ["get.pelton_memcached", {key: "k", hit: false}], [event.name, event.payload]
    assert_kind_of Float, event.duration
    assert_equal [Time, Time], [event.time.class, event.end.class]
  end

  def test_a_failure_is_reported_as_active_support_does
    notifier = Notifier.new
    cache = Pelton::Memcached::Client.new("127.0.0.1:#{free_port}", instrument: Pelton::Memcached::Notifications.new(notifier))
    error = assert_raises(Pelton::ConnectionError) { cache.get("k") }
    payload = notifier.events.fetch(0).last

    assert_equal ["Pelton::ConnectionError", error.message], payload.fetch(:exception)
    assert_kind_of Pelton::ConnectionError, payload.fetch(:exception_object)
    refute_includes payload, :hit
  end
end
