# frozen_string_literal: true

require "json"
require_relative "pubsub"

module Pelton
  # A text that one process makes piece by piece, as a job does that calls a language model, and that others follow
  # while it grows: from its beginning or from where they were, over a reload, a line that broke, and the restart of
  # each process. Its text is in a *store*, such as a row of a database; what the store does not have yet comes by a
  # topic of {PubSub}.
  #
  # A text has *runs*: a job that is tried again makes the text anew. A *position* is the run and the bytes that a
  # reader has.
  #
  # The store has two methods, which may wait, and are called in any fiber and any thread:
  #
  # - `read` returns a Hash with `:run` (Integer), `:state` (String, one of {STATES}), `:text`, `:error` (String or nil)
  #   and `:alive_at` (Time or nil), or nil: there is no such text;
  # - `write(changes, run:, state:)` stores some of these values, if run and state are still the given ones, and returns
  #   whether they were.
  #
  # @example
  #   stream = Pelton::ResumableStream.new("answer:7", store)
  #   stream.write { |out| model.chat(question) { |piece| out << piece } } # in a job
  #   stream.follow { |event| puts event&.text }                           # in a request
  #   stream.cancel                                                        # in another one
  class ResumableStream
    include Opaque

    # waiting: it has no writer yet. interrupted: the writer's process stopped or died. interrupted and failed texts may
    # be written again.
    STATES = %w[waiting running finished failed cancelled interrupted].freeze
    # The states that are for good.
    FINAL = %w[finished cancelled].freeze
    # Seconds without a sign of its writer, after which a text counts as interrupted.
    LEASE = 15
    TOPIC = "pelton-stream:" # a prefix that no client of a cable may subscribe to
    private_constant :TOPIC

    # Somebody writes this text already.
    class Busy < Error
      def retriable? = true
    end

    # Raised inside the block of {#write} when the text was cancelled, or another writer has taken over.
    class Stopped < Cancelled
      def initialize(message = "the stream was cancelled") = super
    end

    # @return [String]
    attr_reader :name

    # @private
    attr_reader :_pubsub, :_store

    # @param name [String] the same in all processes; it has up to 900 bytes
    # @param store [#read, #write]
    # @param pubsub [PubSub]
    def initialize(name, store, pubsub: PubSub.default)
      @name = name
      @_store = store
      @_pubsub = pubsub
    end

    # Writes the text: the block appends its pieces. With the block's end the text is finished, with its error it has
    # failed, and when the block is cancelled, as at a worker's stop, it is interrupted.
    #
    # {#cancel} ends the block with {Stopped}: where it waits, if it runs in a fiber of Pelton; in a thread when it
    # appends its next piece.
    #
    # @param max_bytes [Integer] of the text
    # @param every [Numeric] seconds between two writes of a text that grows to the store
    # @yieldparam writer [Writer]
    # @return [Boolean] whether the block has come to its end; false: the text was cancelled or is finished already,
    #   perhaps before the call, and then the block is not called
    # @raise [Busy] somebody else writes it
    # @raise [LimitError] from {Writer#append}: the text is too long
    # @raise what the block and the store raise
    # @asynchronous
    def write(max_bytes: 1 << 20, every: 1, &block)
      raise ArgumentError, "write needs a block" unless block
      run = claim or return false
      Writer.new(self, run, max_bytes: max_bytes, every: every)._call(&block)
    end

    # Yields what is to be told to a reader: each {Event}, and nil for every `every` seconds of silence. It returns when
    # the text is finished or cancelled; after a failure or an interruption it waits for the next run.
    #
    # @param after [String, nil] the position that the reader has: {Event#position}, or {Snapshot#position}; nil: the
    #   beginning
    # @param every [Numeric] seconds
    # @yieldparam event [Event, nil]
    # @return [self]
    # @raise [NotRunningError] where no reactor runs on this thread
    # @asynchronous
    def follow(after: nil, every: 15, &block)
      Reactor.require_running("ResumableStream#follow")
      Feed.of(self) { |feed| feed.follow(after, every, &block) }
      self
    end

    # Ends the text: its job stops, wherever it runs. What it has written until then stays.
    #
    # @return [Boolean] false: it was finished or cancelled already, or there is none
    # @asynchronous
    def cancel
      loop do
        now = snapshot
        return false if now.nil? || now.final?
        next unless @_store.write({state: "cancelled"}, run: now.run, state: now._stored_state)
        # A writer that is alive tells the readers what it has written last.
        (now.state == "running") ? _order(stop: now.run) : _tell(run: now.run, state: "cancelled", at: now.size)
        return true
      end
    end

    # @return [Snapshot, nil] what the store has; nil: there is no such text
    # @asynchronous
    def snapshot = @_store.read&.then { |values| Snapshot.new(**values) }

    def inspect = "#<#{self.class.name} #{@name.inspect}>"

    # @private
    def _topic = TOPIC + @name

    # Where the writer takes its orders.
    # @private
    def _orders = "#{TOPIC}orders:#{@name}"

    # @private
    def _tell(message) = publish(_topic, message)

    # @private
    def _order(message) = publish(_orders, message)

    private

    # A message that is not published is a gap to the readers, which the store fills.
    def publish(topic, message)
      @_pubsub.publish(topic, JSON.generate(message))
    rescue OverloadError
      nil
    end

    # @return [Integer, nil] the number of a run that is ours
    def claim
      loop do
        now = snapshot
        return if now.nil? || now.final?
        if now.state == "running"
          raise Busy, "#{@name} is being written: limit the concurrency of its jobs, or retry in #{LEASE} s"
        end
        values = {run: now.run + 1, state: "running", text: "", error: nil, alive_at: Time.now}
        return values[:run] if @_store.write(values, run: now.run, state: now._stored_state)
      end
    end
  end
end

require_relative "resumable_stream/event"
require_relative "resumable_stream/snapshot"
require_relative "resumable_stream/writer"
require_relative "resumable_stream/feed"
require_relative "resumable_stream/memory"
require_relative "resumable_stream/turbo_elements"
