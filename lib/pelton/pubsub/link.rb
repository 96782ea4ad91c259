# frozen_string_literal: true

require_relative "engine"

module Pelton
  class PubSub
    # A process's connection with a {Hub}.
    # @private
    class Link < Engine
      # Seconds of messages after which others get a turn.
      BUDGET = 0.001
      # What is worth another attempt.
      ERRORS = [ConnectionError, ClosedError, EOFError, Wire::Malformed].freeze
      private_constant :BUDGET, :ERRORS

      # @param path [String] of the hub's socket
      # @param limit [Integer] bytes of published messages that may wait for the hub
      def initialize(pubsub, path, limit: Outbox::LIMIT)
        super(pubsub, "the master process", limit: limit)
        @path = path
        @serial = 0
        stay_connected("link", "the link to the other processes is cut", ERRORS) { |good| read(good) }
      end

      # Sends a message to the hub. It is delivered when it comes back.
      #
      # @raise [OverloadError] the hub does not take what waits already
      def publish(topic, message, rule)
        parts = Wire.publish(topic, message, rule)
        @outbox.push(parts, parts.sum(&:bytesize))
      end

      # Waits until what was published is on its way.
      #
      # @return [Boolean] whether it is
      # @asynchronous
      def drain(timeout:)
        limit = Clock.now + timeout
        @stream&.flush(timeout: Clock.left(limit)) if (sent = @outbox.drain(limit))
        sent
      rescue ConnectionError, ClosedError, TimeoutError
        false
      end

      private

      def read(good)
        stream = Pelton.connect_unix(@path, timeout: 5)
        stream.write(Wire.join(@epoch, @serial))
        reader = Wire::Reader.new
        buffer = "".b
        loop do
          reader << stream.readpartial(reader.wanted, buffer)
          began = Clock.now
          while (kind, body = reader.next)
            handle(stream, kind, body)
            good.call if kind == Wire::READY
            next if Clock.now - began < BUDGET
            Reactor.current.yield
            began = Clock.now
          end
        end
      ensure
        @writer&.cancel
        @writer = @stream = nil
        stream&.close
      end

      def handle(stream, kind, body)
        case kind
        when Wire::WELCOME then welcome(body)
        when Wire::KEPT, Wire::MESSAGE then receive(kind, Wire.parse(body))
        when Wire::READY then ready(stream, body.unpack1("Q>"))
        else raise Wire::Malformed, "a frame of the kind #{kind}"
        end
      end

      # Another epoch is another hub's, which knows nothing of what was before.
      def welcome(epoch)
        @other = @epoch && epoch != @epoch
        @serial = 0 unless epoch == @epoch
        # The number of the last message, if none was lost: so many come before READY
        @expected = (@serial if @epoch && !@other)
        @epoch = epoch.force_encoding(Encoding::UTF_8).freeze
      end

      def receive(kind, message)
        position = "#{@epoch}:#{message.offset}" if message.rule
        if kind == Wire::KEPT
          return deliver_early(message.topic, message.text, message.rule, position, age: message.age)
        end
        @serial = message.serial
        @expected += 1 if @expected
        @pubsub._deliver(message.topic, message.text, message.rule, position, age: message.age)
      end

      def ready(stream, serial)
        arrived(lost: @other || (@expected && serial > @expected))
        @serial = [@serial, serial].max
        @expected = nil
        @stream = stream
        @writer = Pelton.spawn(name: "pubsub's writer", transient: true, detached: true) { write(stream) }
      end

      # A hub that reads slowly is waited for, and more is collected meanwhile.
      def write(stream)
        loop do
          Wire.gather(@outbox.take(Wire::LONG).flatten).each { |bytes| stream.write(bytes) }
          @outbox.sent
        end
      rescue ConnectionError, ClosedError
        nil # the reader comes back
      ensure
        @outbox.sent # what a cut connection has taken may have arrived
      end
    end
  end
end
