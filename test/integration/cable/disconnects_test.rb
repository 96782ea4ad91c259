# frozen_string_literal: true

require "test_helper"
require "support/cable_client"
require "support/database_process"
require "pg"

# Connections that are ended on all machines, by way of Redis and PostgreSQL: two servers stand for two machines.
class CableDisconnectsOfMachinesTest < PeltonTest
  include CableClient
  include Databases

  self.deadline = 120

  class Connection < Pelton::Cable::Connection
    identified_by :user

    def connect = self.user = env["HTTP_X_USER"]
  end

  def test_by_redis = machines("redis://127.0.0.1:#{redis}")

  def test_by_postgresql = machines("postgres://postgres@127.0.0.1:#{postgres}/postgres")

  private

  def machines(place)
    pubsubs = Array.new(2) { Pelton::PubSub.new }
    serving(pubsub: pubsubs.first, connection: Connection) do |url, cable|
      pubsubs.each { |pubsub| pubsub.join(place) }
      other = Pelton::Cable::Server.new(pubsub: pubsubs.last, connection: Connection)
      urls = [url, "ws://127.0.0.1:#{Pelton::HTTP::Server.new(other).listen("tcp://127.0.0.1:0").port}/"]
      anns, bobs = %w[ann bob].map { |user| urls.map { |place| connect(place, headers: {"x-user" => user}) } }
      cable.disconnect(user: "ann", reconnect: false)
      assert_equal [["remote", false]] * 2, anns.map { |client| client.receive.values_at("reason", "reconnect") }
      assert_equal [1, 1],
        eventually { [cable, other].map { |one| one.stats[:connections] }.then { |counts| counts if counts == [1, 1] } }
      assert_predicate bobs, :any?
    ensure
      pubsubs.each { |pubsub| pubsub.engine&.close }
    end
  end
end
