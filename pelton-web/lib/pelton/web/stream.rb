# frozen_string_literal: true

require "pelton/metrics"
require_relative "settings"

module Pelton
  module Web
    # Raised if `max_streams` are open.
    class TooManyStreams < RequestError
      status 503

      # @return [Hash{String => String}] headers of the response: when to try again
      def headers = {"retry-after" => "5"}
    end

    class Settings
      # @!attribute max_streams
      #   @return [Integer, nil] how many streams, event streams and deferred responses a process may have open; further
      #     ones get 503
      setting(:max_streams, 1000) { |value| "must be a whole number" unless value.nil? || value.is_a?(Integer) }

      # @!attribute stream_lifetime
      #   @return [Numeric, nil] seconds after which a stream is ended: an event stream's client reconnects; any other
      #     response is aborted, so that its client notices
      setting(:stream_lifetime, 3600) do |value|
        "must be a number of seconds" unless value.nil? || value.is_a?(Numeric)
      end
    end

    # A response body that is written while it is sent.
    #
    # The block runs as a task that belongs to the response: when the client leaves, the lifetime is over or the server
    # stops, the task is cancelled, and its `ensure` blocks run. Writing waits for slow clients. On a server other than
    # Pelton's the block runs in the server's thread, and ends when writing fails.
    class Stream
      include Opaque

      class << self
        # @return [Hash{Symbol => Integer}] streams that are `open`; that were `opened` in total; and that were
        #   `cancelled` because the client left or the lifetime was over
        def stats = @stats ||= {open: 0, opened: 0, cancelled: 0}

        # @raise [TooManyStreams] if `most` are open
        def admit(most)
          raise TooManyStreams, "Too many streams are open. Try again in some seconds." if most && stats[:open] >= most
        end

        # Counts the block as an open stream.
        def count
          stats[:open] += 1
          stats[:opened] += 1
          yield
        ensure
          stats[:open] -= 1
        end
      end

      Pelton::Metrics.add(
        "web_streams" => Pelton::Metrics::Family.new("gauge", "pelton_web_streams",
          "Open streams, event streams and deferred responses."),
        "web_streams_opened" => Pelton::Metrics::Family.new("counter", "pelton_web_streams_total",
          "Streams that were ever opened."),
        "web_streams_cancelled" => Pelton::Metrics::Family.new("counter", "pelton_web_streams_cancelled_total",
          "Streams whose client left, or whose lifetime was over.")
      ) do
        stats.then do |all|
          {"web_streams" => all[:open], "web_streams_opened" => all[:opened],
           "web_streams_cancelled" => all[:cancelled]}
        end
      end

      # @param env [Hash] Rack's
      # @param lifetime [Numeric, nil] seconds
      # @param deferred [Boolean] whether the stream continues after the block, until {#succeed} or {#fail}
      # @param endless [Boolean] whether the end of the lifetime is a regular end
      # @yieldparam stream [Stream]
      def initialize(env, lifetime: nil, deferred: false, endless: false, &block)
        raise ArgumentError, "a stream needs a block" unless block
        @env = env
        @lifetime = lifetime
        @deferred = deferred
        @endless = endless
        @block = block
        @closing = []
      end

      # Sends a part of the body.
      #
      # @return [Integer] bytes
      # @raise [ClosedError] if the stream is closed, or the client has left
      # @asynchronous if the client reads slowly
      def write(*strings)
        raise ClosedError, "the stream is closed" if closed?
        raise Error, "a stream can only send while the server writes the response" unless @write
        strings.sum do |string|
          string = string.to_s
          @write.call(string) unless string.empty?
          string.bytesize
        end
      end

      # @raise [ClosedError] if the stream is closed, or the client has left
      # @asynchronous if the client reads slowly
      def <<(string)
        write(string)
        self
      end

      # Like {#write}, but does nothing if the client has left: for callbacks, which cannot know.
      #
      # @asynchronous if the client reads slowly
      def send_data(string)
        write(string) unless closed?
        self
      rescue ClosedError
        self
      end

      # Ends a deferred response.
      def succeed(*) = finish

      # Aborts a deferred response, so that the client notices that it is incomplete.
      #
      # @param error [Exception, nil] the reason, for the log; nil logs nothing
      def fail(error = nil)
        return if @finished
        @failure = error
        @broken = true
        finish
      end

      # @private for {HTTP::EventStream}
      def close(_error = nil) = nil

      # Whether the response is over, or its client has left. With a block, calls it once when that happens.
      def closed?(&block)
        @closed ? block&.call : @closing.push(*block)
        !!@closed
      end
      alias_method :closed, :closed?

      # Rack's body: the server passes a block that sends.
      #
      # @private
      # @asynchronous until the stream ends
      def each(&write)
        @write = write
        Stream.count { owned? ? run : alone }
        raise @failure if @failure.is_a?(Exception)
        break_off if @broken
      ensure
        over
      end

      private

      # Whether the server reports when the client leaves.
      def owned? = Pelton.running? && @env["async.close"].respond_to?(:callback)

      def run
        task = Pelton.spawn(name: "stream of #{@env["PATH_INFO"]}") do
          @block.call(self)
          wait if @deferred
        end
        @env["async.close"].callback { leave(task) }
        Pelton.timeout(@lifetime) { task.await }
      rescue Cancelled
        raise unless @left
      rescue TimeoutError
        raise if task&.done? # the block's own
        Stream.stats[:cancelled] += 1
        @broken = !@endless
      ensure
        task&.cancel
      end

      def leave(task)
        return if task.done?
        @left = true
        @broken = !@endless # a stopping server also ends event streams this way
        Stream.stats[:cancelled] += 1
        task.cancel
      end

      def wait
        return if @finished
        @end = Operation.new
        @end.await
      end

      def alone
        @block.call(self)
        if @deferred && !@finished
          raise AnswerError,
            "a deferred response has not ended with its block: this server cannot wait for it; call succeed or fail"
        end
      end

      # An incomplete response must not look complete.
      def break_off
        raise ClosedError, "the response was broken off" unless owned?
        @env["async.close"].abort
      end

      def finish
        return if @finished
        @finished = true
        @end&.succeed
        nil
      end

      def over
        return if @closed
        @closed = @finished = true
        @closing.each(&:call)
      end
    end
  end
end
