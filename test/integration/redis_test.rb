# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/waiting_clients"
require_relative "../support/databases"
require "pelton"
require "redis-client"

# The redis-client gem.
class RedisTest < PeltonTest
  include Databases
  include WaitingClients

  def setup = redis # before there is a reactor

  def test_a_large_value_and_a_pipeline
    Pelton.run do
      value = "v" * 3_000_000
      answers = connect.pipelined do |pipeline|
        pipeline.call("SET", "large", value)
        pipeline.call("GET", "large")
        100.times { pipeline.call("INCR", "counter") }
      end

      assert_equal ["OK", value, *1..100], answers
    end
  end

  def test_messages_of_another_task
    Pelton.run do
      subscriber = connect.pubsub
      subscriber.call("SUBSCRIBE", "news")
      assert_equal ["subscribe", "news", 1], subscriber.next_event(5)
      Pelton.spawn { connect.call("PUBLISH", "news", "hello") }

      assert_equal ["message", "news", "hello"], subscriber.next_event(5)
    end
  end

  def test_the_clients_own_timeout
    Pelton.run do
      other = connect
      assert_raises(RedisClient::ReadTimeoutError) do
        connect(read_timeout: 0.05, reconnect_attempts: 0).call("BLPOP", "none", 20)
      end

      assert_equal "PONG", other.call("PING")
    end
  end

  private

  def hold(_) = nil # the queue is empty

  def wait_for(_) = connect.call("BLPOP", "queue", 20).last.to_i

  def let_go(connection) = connection.call("RPUSH", "queue", *0..9)

  def waiting(connection) = connection.call("INFO", "clients")[/blocked_clients:(\d+)/, 1].to_i

  def connect(**options) = RedisClient.config(host: "127.0.0.1", port: redis, **options).new_client
end
