# frozen_string_literal: true

require "redis-client"
require_relative "carrier"

module Pelton
  class PubSub
    # Topics that several machines have in common, by a Redis stream. Redis 6 or later, as redis-client speaks RESP3.
    #
    # @see https://redis.io/docs/latest/develop/data-types/streams/
    # @private
    class Redis < Carrier
      NAME = "Redis"

      # Its keys are in one slot of a cluster.
      KEYS = %w[stream state offsets publisher].map { |name| "{pelton:pubsub}:#{name}" }.freeze

      # Numbers a batch and adds it to the stream, once: a publisher that has got no answer sends its batch again. An
      # offset goes on from the topic's last one; a topic that is not known, or was forgotten, begins beyond all that
      # were given out.
      SCRIPT = <<~LUA
        local epoch = redis.call('HGET', KEYS[2], 'epoch')
        if not epoch then
          epoch = ARGV[1]
          redis.call('HSET', KEYS[2], 'epoch', epoch)
        end
        local seen = tonumber(redis.call('GET', KEYS[4]) or '0')
        local number = tonumber(ARGV[2])
        for i = 4, #ARGV, 2 do
          if number > seen then
            local offset = 0
            if ARGV[i] ~= '' then
              local count = redis.call('HINCRBY', KEYS[2], 'count', 1)
              local last = redis.call('HGET', KEYS[3], ARGV[i])
              offset = last and tonumber(last) + 1 or count
              if not last and redis.call('HLEN', KEYS[3]) >= 100000 then redis.call('DEL', KEYS[3]) end
              redis.call('HSET', KEYS[3], ARGV[i], offset)
            end
            redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'e', epoch, 'o', offset, 'b', ARGV[i + 1])
          end
          number = number + 1
        end
        redis.call('SET', KEYS[4], number - 1, 'EX', 3600)
      LUA
      private_constant :KEYS, :SCRIPT

      # What is worth another attempt: all, since an operator can mend it meanwhile.
      def self.errors = [RedisClient::Error, ConnectionError, ClosedError, Pelton::TimeoutError, SystemCallError]

      private

      def open = RedisClient.config(url: @url, timeout: @timeout, reconnect_attempts: 0).new_client

      def send_batch(redis, sequence, batch)
        stream, state, offsets, publisher = KEYS
        words = batch.flat_map { |topic, body| [topic.to_s, body] }
        redis.call("EVAL", SCRIPT, 4, stream, state, offsets, "#{publisher}:#{@publisher}",
          SecureRandom.alphanumeric(8), sequence, LOG, *words)
      end

      # @return [Array(String, String)] the epoch, and the first message's id; nil: there is none
      def start(redis)
        epoch, entries = redis.pipelined do |pipeline|
          pipeline.call("HGET", KEYS[1], "epoch")
          pipeline.call("XRANGE", KEYS[0], "-", "+", "COUNT", 1)
        end
        [epoch.to_s, entries.first&.first]
      end

      # @param wait [Numeric, nil] seconds for the first message
      # @return [Array<Array(String, String, String, String)>] id, epoch, offset and body of each
      def read(redis, last, wait)
        command = ["XREAD", "COUNT", PAGE, *(["BLOCK", (wait * 1000).to_i] if wait), "STREAMS", KEYS[0], last || "0"]
        answer = wait ? redis.blocking_call(wait + @timeout, *command) : redis.call(*command)
        answer.to_h.fetch(KEYS[0], []).map { |id, fields| [id, *fields.each_slice(2).to_h.values_at("e", "o", "b")] }
      end

      def after?(id, other) = (id.split("-").map(&:to_i) <=> other.split("-").map(&:to_i)) == 1
    end
  end
end
