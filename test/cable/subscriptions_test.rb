# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

# What a session drives; the gem's own subscriptions are tested by their commands, in session_test.rb.
class CableSubscriptionsTest < PeltonTest
  include CableClient

  # Such as Rails' connections.
  def test_something_else_may_execute_the_commands
    calls = []
    other = Class.new do
      define_method(:initialize) { |session| @session = session }
      define_method(:open) { @session.transmit(%({"type":"welcome"})) || true }
      define_method(:size) { 1 }
      define_method(:include?) { |identifier| identifier == "known" }
      define_method(:subscribe) do |command|
        (command["identifier"] == "bad") ? raise(Pelton::Cable::Refused, "bad") : calls << command
      end
      %i[unsubscribe perform].each { |name| define_method(name) { |command| calls << command } }
      define_method(:stop) { calls << "stop" }
      define_method(:forget) {}
    end
    cable = Pelton::Cable::Server.new(pubsub: Pelton::PubSub.new)
    serving(app: ->(env) { cable.accept(env) { |session| other.new(session) } }) do |url,|
      client = connect(url)
      commands = [["subscribe", "new"], ["subscribe", "bad"], ["subscribe", "known"], ["message", "known"],
        ["message", "new"], ["unsubscribe", "known"]]
      commands.each { |command, identifier| client.send(command: command, identifier: identifier) }
      assert_equal({"identifier" => "bad", "type" => "reject_subscription"}, client.receive)
      client.socket.close
      eventually { calls.include?("stop") }

      assert_equal %w[subscribe message unsubscribe], calls.grep(Hash).map { |command| command["command"] }
      assert_equal [2, 0], cable.stats.values_at(:refused, :connections)
    end
  end
end
