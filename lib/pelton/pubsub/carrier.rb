# frozen_string_literal: true

require_relative "engine"

module Pelton
  class PubSub
    # An engine on a server that keeps the last messages of all topics in one log, which each process reads: one order
    # for all, and what came while a connection was cut is read afterwards. Two fibers, one that sends what is published
    # and one that reads, each with a connection of its own, which comes back by itself.
    #
    # A subclass says how: {#open}, {#send_batch}, {#start} and {#read}.
    # @private
    class Carrier < Engine
      # Messages that the log keeps, of all topics.
      LOG = 10_000
      # Bytes of messages that are sent at once.
      BATCH = 262_144
      # Messages that are read at once.
      PAGE = 500
      # Seconds for an answer of the server, unless said otherwise, and for a read that waits for messages.
      TIMEOUT = 5
      WAIT = 5

      # @param url [String] of the server
      # @param limit [Integer] bytes of published messages that may wait for the server
      # @param timeout [Numeric] seconds for an answer of the server
      def initialize(pubsub, url, limit: Outbox::LIMIT, timeout: TIMEOUT)
        super(pubsub, self.class::NAME, limit: limit)
        @url = url
        @timeout = timeout
        @publisher = SecureRandom.alphanumeric(12)
        @sequence = 1 # of the first message that is not known to be sent
        connected("reader") { |connection, good| follow(connection, good) }
        connected("writer") { |connection, good| write(connection, good) }
      end

      # Sends a message to the server. It is delivered when it is read back.
      #
      # @raise [OverloadError] the server does not take what waits already
      def publish(topic, message, rule)
        body = Wire.body(topic, message, rule)
        @outbox.push([(topic if rule), body], body.bytesize)
      end

      # Waits until what was published is at the server.
      #
      # @return [Boolean] whether it is
      # @asynchronous
      def drain(timeout:) = @outbox.drain(Clock.now + timeout)

      private

      def connected(name)
        stay_connected(name, "#{self.class::NAME} does not answer", self.class.errors) do |good|
          connection = open
          yield connection, good
        ensure
          connection&.close
        end
      end

      # A batch that was sent when the connection broke is sent again: the server knows the publisher's last number.
      def write(connection, good)
        loop do
          @batch ||= @outbox.take(BATCH)
          send_batch(connection, @sequence, @batch)
          good.call
          @sequence += @batch.size
          @batch = nil
          @outbox.sent
        end
      end

      # The log of another epoch knows nothing of what was before.
      def follow(connection, good)
        epoch, first = start(connection)
        lost = @last && (epoch != @epoch || (first && after?(first, @last)))
        if lost
          Pelton.logger.warn(
            "pubsub: messages may be missing: #{self.class::NAME} has not kept all since the connection was cut"
          )
        end
        @last = nil unless epoch == @epoch
        preload(connection) if @ready.state == :pending
        @epoch = epoch
        arrived(lost: lost)
        good.call
        loop { read(connection, @last, WAIT).each { |entry| deliver(entry) } }
      end

      # Whether the log has the first one's message later, where ids are numbers.
      def after?(id, other) = id > other

      # What the log has is for the history alone: it came before this process.
      def preload(connection)
        until (entries = read(connection, @last, nil)).empty?
          entries.each { |entry| deliver(entry, kept: true) }
        end
      end

      def deliver((id, epoch, offset, body), kept: false)
        @last = id
        @epoch = epoch
        message = Wire.published(body)
        position = "#{epoch}:#{offset}" if message.rule
        return deliver_early(message.topic, message.text, message.rule, position) if kept
        @pubsub._deliver(message.topic, message.text, message.rule, position)
      rescue Wire::Malformed => error
        Pelton.logger.warn("pubsub: #{self.class::NAME} has #{error.message}, which is skipped")
      end
    end
  end
end
