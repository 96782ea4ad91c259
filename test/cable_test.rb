# frozen_string_literal: true

require "test_helper"
require "pelton/cable"

class CableTest < PeltonTest
  def test_any_thread_may_broadcast
    subscription = Pelton::PubSub.subscribe("cable_test")
    Thread.new { Pelton::Cable.broadcast("cable_test", {text: "ä", nothing: nil}) }.join
    assert_equal %({"text":"ä","nothing":null}), subscription.receive

    own = Pelton::PubSub.new
    one = own.subscribe("cable_test")
    Pelton::Cable.broadcast("cable_test", [1], pubsub: own)
    assert_equal "[1]", one.receive
    assert_equal 0, subscription.size
    assert_raises(JSON::GeneratorError) { Pelton::Cable.broadcast("cable_test", Float::NAN) }
  ensure
    subscription.close
  end
end
