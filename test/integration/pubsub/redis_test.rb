# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../shared/pubsub_carriers"
require "redis-client"

class PubSubRedisTest < PeltonTest
  include PubSubCarriers

  private

  def url(port = redis) = "redis://127.0.0.1:#{port || redis}"

  def own_process = DatabaseProcess.new("KILL") { |port| Databases.redis_command(port) }

  def forget_everything = RedisClient.new(port: redis).call("FLUSHALL")
end
