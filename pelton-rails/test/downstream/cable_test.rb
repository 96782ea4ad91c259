# frozen_string_literal: true

require_relative "../support/cable_client"
require_relative "../support/rails_serving"
require_relative "../../../test/support/databases"

# Rails' connections and channels, on pelton-cable.
class RailsCableTest < PeltonTest
  include RailsServing
  include Databases

  self.deadline = 120

  def test_connections_and_channels_work_as_they_are
    serving = serve("cable")
    Pelton.run do
      client = CableClient.new(serving.port, "NewsChannel", query: "user=ann")
      assert_equal({"echo" => "ä", "process" => serving.pid, "fiber" => true}, client.perform("echo", text: "ä"))
      assert_equal({"rescued" => "key"}, client.perform("fetch"))
      client.say("message", action: "fail")
      assert_equal({"rescued" => "on purpose"}, client.await { |frame| frame["rescued"] })
      assert_equal "from a thread", client.perform("thread")
      %w[hidden subscribed unsubscribed transmit nothing].each { |action| client.say("message", action: action) }
      broadcast(serving, "news", {"a" => "<b>"})
      assert_equal({"a" => "<b>"}, client.message)

      assert_equal "reject_subscription", client.subscribe("NewsChannel", reject: true)
      ["NoChannel", "Object", "ApplicationCable::Connection", "puts 1"].each { |name| assert_equal "reject_subscription", client.subscribe(name), name }
      client.socket.close
      notes = eventually { facts(serving).fetch("notes").then { |all| all if all.last == "ann is gone, from ann" } }
      assert_equal ["unsubscribed ann", "after the end", "ann is gone, from ann"], notes.last(3)
      assert_equal 1, notes.count("transmit_subscription_confirmation NewsChannel")
      assert_equal 1, notes.count("transmit_subscription_rejection NewsChannel")
      assert_operator notes.count("perform_action NewsChannel"), :>=, 4
      assert_includes notes, "before a command of ann" if RailsProgram::VERSION > "7.0"
      assert_operator notes.index("before"), :<, notes.index("after")
    end

    assert_match(/\[Cable\] \[for ann\] \[tagged ann\].*NewsChannel is streaming from news/, File.read("#{serving.folder}/rails.log"))
    assert_equal 0, serving.stop.exitstatus
  end

  private

  def get(serving, path) = Pelton::HTTP.get("http://127.0.0.1:#{serving.port}#{path}").body

  def facts(serving) = JSON.parse(get(serving, "/facts"))

  def broadcast(serving, stream, message) = get(serving, "/broadcast?on=#{stream}&json=#{CGI.escape(JSON.generate(message))}")
end
