# frozen_string_literal: true

require_relative "../opaque"

module Pelton
  class Merging
    # Finds that share a query. A subclass says what is sent, and what each caller gets: see {#rows} and {#answer}.
    #
    # @api private
    class Batch
      include Opaque

      # @param model [Class]
      # @param key [Object] the first find's
      def initialize(model, key)
        @model = model
        @first = key
      end

      # @return [Boolean] whether no other find has joined
      def alone? = @rows.nil?

      # Adds a find before the query is sent.
      #
      # @return what {#wait} returns
      # @asynchronous
      def join(key)
        share unless @rows
        @keys[key] = @keys.fetch(key, 0) + 1
        @waiting += 1
        wait(key)
      end

      # Sends the query on a separate fiber, so that cancelling a caller does not end it for the others.
      def start
        @task = Pelton.spawn(name: "merged finds of #{@model}") { query }
      end

      # @return the answer for this key
      # @asynchronous
      def wait(key)
        answer(key, @rows.await) # an error is a copy for each caller, with the caller's lines
      ensure
        @waiting -= 1
        @task&.cancel if @waiting.zero? && !@rows.done?
      end

      private

      # @!method rows(keys)
      #   Sends the query.
      #   @param keys [Array] each once
      #   @return [Hash] rows by key

      # @!method answer(key, rows)
      #   @param rows [Hash, nil] nil: the query has failed, so that each caller has to ask alone, and gets its own
      #     error
      #   @return what the caller gets

      # @!method unavailable
      #   @return [Array<Class>] errors that all callers would get alone, too: the database is away

      # How many callers have the key.
      def callers(key) = @keys[key]

      # Most finds stay alone and skip this.
      def share
        @rows = Operation.new.errback {} # no error is reported if all callers have been cancelled
        @keys = {@first => 1} # key => number of callers
        @waiting = 1
      end

      def query
        @rows.succeed(rows(@keys.keys))
      rescue Pelton::Error, *unavailable => error
        @rows.fail(error)
      rescue
        @rows.succeed(nil)
      ensure
        @rows.fail(Error.new("the query of #{@model} that several fibers shared was cancelled")) unless @rows.done?
      end
    end
  end
end
