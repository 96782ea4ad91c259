# frozen_string_literal: true

require_relative "../active_record"
require_relative "merging/batch"
require_relative "merging/belongs_to"

module Pelton
  module ActiveRecord
    # Merges finds by key that different fibers call in the same iteration of the loop into one query:
    # `WHERE id IN (...)`. The first find yields once to fibers that are ready; if none of them joins, it queries alone.
    # No find waits for anything else.
    #
    #     class Author < ActiveRecord::Base
    #       include Pelton::ActiveRecord::Merging
    #     end
    #
    # Applies to `Author.find(1)`, `Author.find_by` with the value of a column that has a unique index, and belongs_to
    # associations with such a model; but not while the fiber holds a connection, as in a transaction, nor with other
    # conditions, locks or scopes. What the same task has found before is left to the query cache.
    module Merging
      FOUND = :pelton_active_record_found # what a task has found alone, and its query cache has
      LONGEST = 255 # bytes of a text
      private_constant :FOUND, :LONGEST

      @merging = ::Pelton::Merging.new(:pelton_active_record_batches) do |model, place, key|
        Batch.new(model, place, key)
      end

      class << self
        # @private
        def included(model)
          super
          model.extend(ClassMethods)
          model.merge_finds = true
          BelongsTo.install
        end

        # @private
        def without(&block) = @merging.without(&block)

        # @private
        # @param column [String] one with unique values
        # @yieldreturn Active Record's own answer
        # @return [ActiveRecord::Base] that of others' query, or the block's value
        # @asynchronous
        def find(model, column, key, &alone)
          return yield unless wanted?(model) && mergeable?(model, column, key)
          pool = model.connection_pool # that of the role and the shard
          return yield if pool.active_connection?
          caches?(pool) ? find_beside_cache(model, pool, column, key, &alone) : join(model, pool, column, key) || yield
        end

        # @private
        # Whether this fiber's finds of the model may be merged. Conditions that a scope adds are not in the shared
        # query.
        def wanted?(model)
          @merging.possible? && model.respond_to?(:merges_finds?) && model.merges_finds? && !model.scope_attributes?
        end

        # @private
        def key?(value) = value.is_a?(Integer) || value.instance_of?(String)

        # @private
        # A connection of the model's pool for the block.
        def with_connection(model, &block)
          if model.respond_to?(:with_connection)
            model.with_connection(&block)
          else
            model.connection_pool.with_connection(&block)
          end
        end

        private

        # Whether the key cannot fail the shared query, and Ruby and the database agree on equality. (For text they may
        # not: a row that is not found is looked for alone.)
        def mergeable?(model, column, key)
          case (type = model.type_for_attribute(column))
          when ActiveModel::Type::Integer then key.is_a?(Integer) && type.serializable?(key)
          when ActiveModel::Type::String then short?(key)
          else type.type == :uuid && short?(key)
          end
        end

        def short?(key) = key.instance_of?(String) && key.ascii_only? && key.bytesize <= LONGEST && !key.include?("\0")

        # From 7.2 on the pool has the cache of each fiber. Before, the fiber's connection has it, and a fiber with a
        # connection is never here.
        def caches?(pool) = pool.query_cache_enabled && pool.respond_to?(:query_cache)

        def find_beside_cache(model, pool, column, key)
          found = ActiveSupport::IsolatedExecutionState[FOUND] ||= {}
          find = [model, pool, column, key]
          found.clear if pool.query_cache.empty?
          (join(model, pool, column, key) unless found.key?(find)) || yield.tap { found[find] = true }
        end

        # @return [ActiveRecord::Base, nil] nil: find it alone
        def join(model, pool, column, key) = @merging.find(model, [column, pool], key) { nil }
      end

      # For models.
      module ClassMethods
        # @return [Boolean] whether finds of this model share queries; inherited by subclasses
        attr_writer :merge_finds

        # @private
        def merges_finds? = @merge_finds.nil? ? superclass.merges_finds? : @merge_finds

        # Calls the block without merging this fiber's finds: each sends its own query.
        #
        # @return the block's value
        def without_merging(&block) = Merging.without(&block)

        # (see ActiveRecord::FinderMethods#find)
        # @asynchronous
        def find(*ids)
          return super if block_given? || ids.size != 1
          return super unless Merging.key?(ids.first) && primary_key.is_a?(String)
          Merging.find(self, primary_key, ids.first) { super }
        end

        # (see ActiveRecord::FinderMethods#find_by)
        # @asynchronous
        def find_by(*arguments)
          pair = arguments.first
          return super unless arguments.size == 1 && pair.is_a?(Hash) && pair.size == 1
          return super unless Merging.wanted?(self)
          column, key = pair.first
          column = attribute_aliases.fetch(column.to_s, column.to_s)
          return super unless Merging.key?(key) && unique_columns.include?(column)
          Merging.find(self, column, key) { super }
        end

        # @private
        # The primary key, and the columns with a unique index.
        #
        # @asynchronous at first
        def unique_columns
          @unique_columns ||= begin
            indexes = Merging.with_connection(self) { |connection| connection.schema_cache.indexes(table_name) }
            unique = indexes.select do |index|
              index.unique && index.where.nil? && index.columns.is_a?(Array) && index.columns.size == 1
            end
            [*(primary_key if primary_key.is_a?(String)), *unique.flat_map(&:columns)].uniq
          end
        end

        # Forgets which columns have a unique index as well.
        def reset_column_information
          @unique_columns = nil
          super
        end
      end
    end
  end
end
