# frozen_string_literal: true

require "pelton"

module Pelton
  module ActiveRecord
    module Merging
      # Finds on the same column of the same model that share a query. Each caller gets its own object. If the query fails, or the row is not there,
      # the caller repeats its find alone, and gets Active Record's own answer.
      # @private
      class Batch
        include Opaque

        SIZE = 1000 # keys of a query

        # @param model [Class]
        # @param column [String]
        # @param key [Integer, String] the first find's
        # @param where [Hash] the role and the shard of these finds
        def initialize(model, column, key, where)
          @model = model
          @column = column
          @first = key
          @where = where
        end

        # @return [Boolean] whether no other find has joined
        def alone? = @rows.nil?

        # Adds a find before the query is sent.
        #
        # @return [ActiveRecord::Base, nil]
        # @asynchronous
        def join(key)
          share unless @rows
          @keys << key
          @waiting += 1
          wait(key)
        end

        # Sends the query on a separate fiber, so that cancelling a caller does not end it for the others.
        def start
          @task = Pelton.spawn(name: "merged finds of #{@model}") { query }
        end

        # @return [ActiveRecord::Base, nil] nil: find it alone
        # @asynchronous
        def wait(key)
          row = @rows.await&.[](key) # an error is a copy for each caller, with the caller's lines
          row && @model.instantiate(row.dup)
        ensure
          @waiting -= 1
          @task&.cancel if @waiting.zero? && !@rows.done?
        end

        private

        # Most finds stay alone and skip this.
        def share
          @rows = Operation.new.errback {} # no error is reported if all callers have been cancelled
          @keys = [@first]
          @waiting = 1
        end

        def query
          @rows.succeed(::ActiveRecord::Base.connected_to(**@where) { @keys.uniq.each_slice(SIZE).flat_map { |keys| rows(keys) }.to_h })
        rescue ::ActiveRecord::ConnectionNotEstablished, Pelton::Error => error
          @rows.fail(error)
        rescue
          @rows.succeed(nil)
        ensure
          @rows.fail(Error.new("the query of #{@model} that several fibers shared was cancelled")) unless @rows.done?
        end

        # [key, row as the database sent it] for each row.
        def rows(keys)
          type = @model.type_for_attribute(@column)
          relation = @model.where(@column => keys)
          result = Merging.with_connection(@model) { |connection| connection.select_all(relation.arel, "#{@model.name} Load") }
          result.to_a.map { |row| [type.deserialize(row[@column]), row] }
        end
      end
    end
  end
end
