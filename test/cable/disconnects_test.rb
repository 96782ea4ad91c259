# frozen_string_literal: true

require "test_helper"
require "pelton/pubsub/hub"
require "support/cable_client"

# Connections that are ended by who their clients are, in several processes: two servers with a hub stand for two
# workers.
class CableDisconnectsTest < PeltonTest
  include CableClient

  class Connection < Pelton::Cable::Connection
    identified_by :user

    def connect
      self.user = env["HTTP_X_USER"]
      return unless (lock = LOCKS[user])
      WAITING << user
      lock.await
    end
  end

  class Other < Connection
  end

  LOCKS = {} # standard:disable Style/MutableConstant
  WAITING = [] # standard:disable Style/MutableConstant

  REMOTE = {"type" => "disconnect", "reason" => "remote", "reconnect" => false}.freeze

  def setup
    super
    [LOCKS, WAITING].each(&:clear)
  end

  def test_in_all_processes
    two_servers do |urls, cables|
      anns, bobs = %w[ann bob].map { |user| urls.map { |url| user(url, user) } }
      cables.first.disconnect(user: "ann", reconnect: false)
      assert_equal [REMOTE] * 2, anns.map(&:receive)
      cables.last.disconnect(reconnect: false)
      assert_equal [REMOTE] * 2, bobs.map(&:receive)
    end
  end

  def test_here_alone_and_other_connections
    two_servers do |urls, cables|
      mine, others = urls.map { |url| user(url, "ann") }
      other = Pelton::Cable::Server.new(pubsub: cables.first.pubsub, connection: Other)
      another = user("ws://127.0.0.1:#{Pelton::HTTP::Server.new(other).listen("tcp://127.0.0.1:0").port}/", "ann")
      cables.first.disconnect(user: "ann", here: true, reconnect: false)
      assert_equal REMOTE, mine.receive
      cables.first.disconnect(user: "ann")
      assert_equal true, others.receive["reconnect"]
      eventually { cables.all? { |cable| cable.stats[:connections] == 0 } }
      assert_equal 1, other.stats[:connections]
      other.disconnect(user: "ann", reconnect: false)
      assert_equal REMOTE, another.receive
    end
  end

  def test_by_another_thread
    serving(connection: Connection) do |url, cable|
      client = user(url, "ann")
      Thread.new { cable.disconnect(user: "ann", reconnect: false) }.join

      assert_equal REMOTE, client.receive
    end
  end

  # It has perhaps asked the database before.
  def test_one_that_was_connecting
    serving(connection: Connection) do |url, cable|
      LOCKS["ann"] = LOCKS["bob"] = lock = Pelton::Operation.new
      ann, bob = %w[ann bob].map { |user| Client.new(url, headers: {"x-user" => user}) }
      eventually { WAITING.size == 2 }
      cable.disconnect(user: "ann", reconnect: false)
      lock.succeed

      assert_equal REMOTE, ann.receive
      assert_nil ann.receive
      assert_equal "welcome", bob.receive["type"]
      LOCKS.clear
      user(url, "ann")
    end
  end

  def test_who_is_not_known
    serving(connection: Connection) do |_, cable|
      assert_match(/not identified by name/, assert_raises(ArgumentError) { cable.disconnect(name: "ann") }.message)
      assert_raises(ArgumentError) { cable.disconnect(user: Object.new) }
    end
  end

  private

  def user(url, name) = connect(url, headers: {"x-user" => name})

  def two_servers
    hub = Pelton::PubSub::Hub.open
    serving(pubsub: joined = Pelton::PubSub.new, connection: Connection) do |url, cable|
      pubsub = Pelton::PubSub.new
      [joined, pubsub].each { |one| one.join(hub.path) }
      second = Pelton::Cable::Server.new(pubsub: pubsub, connection: Connection)
      yield [url, "ws://127.0.0.1:#{Pelton::HTTP::Server.new(second).listen("tcp://127.0.0.1:0").port}/"],
        [cable, second]
    end
  ensure
    hub.close
  end
end
