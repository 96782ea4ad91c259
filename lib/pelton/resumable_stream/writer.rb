# frozen_string_literal: true

require "json"
require_relative "pieces"

module Pelton
  class ResumableStream
    # Who writes a text: what the block of {ResumableStream#write} gets. Each piece is published at once. A task, the
    # *keeper*, writes the text to the store while it grows, shows that the writer is alive, and takes orders: of a
    # reader that misses something, and to stop.
    class Writer
      # Seconds between two signs of life.
      BEAT = LEASE / 3.0
      private_constant :BEAT

      # @private
      def initialize(stream, run, max_bytes:, every:)
        @stream, @run, @max_bytes, @every = stream, run, max_bytes, every
        @lock = Mutex.new # the keeper may run on another thread
        @text = +""
        @stored = 0
        @written = Clock.now
        @pieces = Pieces.new
      end

      # Appends a piece, and publishes it.
      #
      # @param piece [String, nil] UTF-8; it may be cut within a character
      # @return [self]
      # @raise [Stopped] the text was cancelled, or another writer has taken over
      # @raise [LimitError] it would be longer than `max_bytes:`
      def append(piece)
        raise Stopped if @stopped
        add(@pieces.take(piece)) if piece
        self
      end
      alias_method :<<, :append

      # @return [String] what was appended
      def text = @lock.synchronize { @text.dup }

      # @return [Boolean] whether the text was cancelled, or another writer has taken over
      def stopped? = !!@stopped

      # @private
      def _call
        @fiber = Fiber.current
        @reactor = Reactor.current if Pelton.running?
        keep
        @stream._tell(run: @run, state: "running", at: 0)
        @inside = true
        yield self
        @inside = false
        add(@pieces.finish)
        @stopped ? stopped : finish("finished")
      rescue Stopped
        stopped
      rescue Exception => error # standard:disable Lint/RescueException
        @inside = false
        settle((error.is_a?(StandardError) || error.is_a?(ScriptError)) ? "failed" : "interrupted", error)
        raise
      ensure
        @inside = false
        @ended = true
        @orders&.close
      end

      private

      def add(text)
        return if text.empty?
        at = @lock.synchronize do
          size = @text.bytesize
          if size + text.bytesize > @max_bytes
            raise LimitError,
              "the text would have more than #{@max_bytes} bytes: raise max_bytes: of ResumableStream#write"
          end
          @text << text
          size
        end
        @stream._tell(run: @run, at: at, text: text)
      end

      # @return [Boolean]
      def finish(state, error = nil)
        text = self.text
        values = {state: state, text: text, error: error, alive_at: Time.now}
        return stopped unless @stream._store.write(values, run: @run, state: "running")
        @stream._tell(run: @run, state: state, at: text.bytesize, error: error)
        true
      end

      # The text was cancelled: what was written until then stays. Or another writer has its own.
      def stopped
        text = self.text
        if @stream._store.write({text: text}, run: @run, state: "cancelled")
          @stream._tell(run: @run, state: "cancelled", at: text.bytesize)
        end
        false
      end

      # The error that has ended the block is the one to be raised, whatever the store says.
      def settle(state, error)
        finish(state, error.class.name)
      rescue => another
        Pelton.report_error(another, "a stream that has ended (#{@stream.name})")
      end

      # Begins the keeper: in this thread's reactor, or where none runs, in that of the topics.
      def keep
        started = Thread::Queue.new
        (@reactor || PubSub.home).next_tick do
          next if @ended # cancelled meanwhile
          @orders = @stream._pubsub.subscribe(@stream._orders)
          Pelton.spawn(name: "keeper of the stream #{@stream.name}", transient: true, detached: true) { tend(@orders) }
          started << true
        end
        started.pop
      end

      # Until the orders are closed.
      def tend(orders)
        loop do
          order = begin
            orders.receive(timeout: [@every, BEAT].min) or return
          rescue TimeoutError
            nil
          end
          order ? obey(JSON.parse(order, symbolize_names: true)) : store_what_is_due
        rescue => error # the database may be back in a moment
          Pelton.report_error(error, "keeping the stream #{@stream.name}")
          sleep @every
        end
      end

      def obey(order)
        return stop if order[:stop] == @run
        return unless order[:store] == @run
        size = (@stored < @text.bytesize) ? store : @stored
        @stream._tell(run: @run, stored: size) if size
      end

      # While orders come, what is due is stored by them.
      def store_what_is_due
        store if @stored < @text.bytesize || Clock.now - @written >= BEAT
      end

      # @return [Integer, nil] bytes that the store has now
      def store
        text = self.text
        return stop unless @stream._store.write({text: text, alive_at: Time.now}, run: @run, state: "running")
        @written = Clock.now
        @stored = text.bytesize
      end

      # Ends the block where it waits. One that does not wait now does so soon, or appends.
      #
      # @return [nil]
      def stop
        return unless @inside && !@stopped
        @stopped = true
        sleep 0.01 until !@reactor || !@inside || @reactor.raise_in(@fiber, Stopped.new)
      end
    end
  end
end
