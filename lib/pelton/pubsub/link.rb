# frozen_string_literal: true

require_relative "wire"

module Pelton
  class PubSub
    # A process's connection with a {Hub}: an engine of {PubSub}. It comes back by itself when it was cut. Meanwhile what is published waits
    # here, up to a limit.
    # @private
    class Link
      include Opaque

      # Bytes of published messages that may wait for the hub.
      LIMIT = 4 << 20
      # Bytes that are written at once.
      CHUNK = 65_536
      # Seconds between two attempts to come back, doubled up to the second number.
      DELAY = 0.05
      MOST_DELAY = 1
      private_constant :CHUNK, :DELAY, :MOST_DELAY

      # @return [Integer] how often it has come back
      attr_reader :returns

      # @param limit [Integer] bytes of published messages that may wait for the hub
      def initialize(pubsub, path, limit: LIMIT)
        @pubsub = pubsub
        @path = path
        @limit = limit
        @reactor = Reactor.current
        @lock = Mutex.new
        @frames = []
        @bytes = @returns = @serial = 0
        @ready = Operation.new
        @task = Pelton.spawn(name: "pubsub's link", transient: true, detached: true) { stay_joined }
      end

      # Waits until the process has what the hub keeps.
      #
      # @raise [TimeoutError]
      # @asynchronous
      def await_ready(timeout:) = @ready.await(timeout: timeout)

      # Sends a message to the hub. It is delivered when it comes back.
      #
      # @raise [OverloadError] the hub does not take what waits already
      def publish(topic, message, rule)
        frame = Wire.publish(topic, message, rule)
        idle = @lock.synchronize do
          raise OverloadError, "#{@bytes} bytes of published messages wait for the master process, which does not take them" if @bytes > @limit
          @frames << frame
          @bytes += frame.bytesize
          !@scheduled && (@scheduled = true)
        end
        @reactor.next_tick { flush } if idle
      end

      # Waits until what was published is on its way.
      #
      # @return [Boolean] whether it is
      # @asynchronous
      def drain(timeout:)
        limit = Clock.now + timeout
        sleep 0.005 while @bytes.positive? && Clock.now < limit
        @stream&.flush(timeout: Clock.left(limit))
        @bytes.zero?
      rescue ConnectionError, ClosedError, TimeoutError
        false
      end

      # Ends the connection for good.
      def close = @task.cancel

      private

      def stay_joined
        delay = DELAY
        loop do
          read { delay = DELAY }
        rescue ConnectionError, ClosedError, EOFError, Wire::Malformed => error
          @stream = nil
          Pelton.logger.warn("pubsub: the link to the other processes is cut: #{error.message}") if delay == DELAY
          sleep(delay)
          delay = [delay * 2, MOST_DELAY].min
        end
      ensure
        @stream = nil
      end

      def read
        stream = Pelton.connect_unix(@path, timeout: 5)
        stream.write(Wire.join(@epoch, @serial))
        reader = Wire::Reader.new
        loop do
          reader << stream.readpartial(CHUNK)
          while (kind, body = reader.next)
            handle(stream, kind, body)
            yield if kind == Wire::READY
          end
        end
      ensure
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
        @serial = 0 unless epoch == @epoch
        @epoch = epoch.force_encoding(Encoding::UTF_8).freeze
      end

      def receive(kind, message)
        @serial = message.serial if kind == Wire::MESSAGE
        position = "#{@epoch}:#{message.offset}" if message.rule
        @pubsub._deliver(message.topic, message.text, message.rule, position, kept: kind == Wire::KEPT)
      end

      def ready(stream, serial)
        @serial = [@serial, serial].max
        @returns += 1 if @ready.state == :succeeded
        @ready.succeed
        @stream = stream
        @lock.synchronize { @scheduled = true }
        @reactor.next_tick { flush }
      end

      # Writes what waits: a hub that reads slowly is waited for, and more is collected meanwhile.
      def flush
        return if @flushing
        @flushing = true
        while (stream = @stream) && (chunk = take)
          stream.write(chunk)
        end
      rescue ConnectionError, ClosedError
        nil # the reader comes back
      ensure
        @flushing = false
      end

      def take
        @lock.synchronize do
          next @scheduled = nil if @frames.empty?
          chunk = "".b
          chunk << @frames.shift while @frames.any? && chunk.bytesize < CHUNK
          @bytes -= chunk.bytesize
          chunk
        end
      end
    end
  end
end
