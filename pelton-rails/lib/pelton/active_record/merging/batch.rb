# frozen_string_literal: true

require "pelton/merging"

module Pelton
  module ActiveRecord
    module Merging
      # Finds on the same column of the same model that share a query. Each caller gets its own object. If the query
      # fails, or the row is not there, the caller repeats its find alone, and gets Active Record's own answer.
      # @private
      class Batch < ::Pelton::Merging::Batch
        SIZE = 1000 # keys of a query

        # @param model [Class]
        # @param place [Array(String, ActiveRecord::ConnectionAdapters::ConnectionPool)] the column of these finds, and
        #   the pool, which has their role and shard
        # @param key [Integer, String] the first find's
        def initialize(model, place, key)
          super(model, key)
          @column, @pool = place
        end

        private

        # @return [Hash] each row as the database sent it
        def rows(keys)
          ::ActiveRecord::Base.connected_to(role: @pool.role, shard: @pool.shard) do
            keys.each_slice(SIZE).flat_map { |slice| load(slice) }.to_h
          end
        end

        # Keys are written into the statement, which is never prepared. To bind them, Active Record makes an object for
        # each; and on SQLite, which takes 999 of them, it makes the statement twice.
        #
        # @return [Array(Object, Hash)] the key and the row
        def load(keys)
          type = @model.type_for_attribute(@column)
          relation = @model.where(@column => keys)
          result = Merging.with_connection(@model) do |connection|
            connection.unprepared_statement { connection.select_all(relation.arel, "#{@model.name} Load") }
          end
          result.to_a.map { |row| [type.deserialize(row[@column]), row] }
        end

        # @return [ActiveRecord::Base, nil] nil: find it alone
        def answer(key, rows)
          row = rows && rows[key]
          row && @model.instantiate(row.dup)
        end

        def unavailable = [::ActiveRecord::ConnectionNotEstablished]
      end
    end
  end
end
