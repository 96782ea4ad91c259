# frozen_string_literal: true

require "pelton/sequel"
require "pelton/sequel/batch"

module Sequel
  module Plugins
    # Merges finds by key that different fibers call in the same iteration of the loop into one query:
    # `WHERE id IN (...)`. The first find yields once to fibers that are ready; if none of them joins, it queries alone.
    # No find waits for anything else.
    #
    # Applies to `Album[1]`, `with_pk` and many_to_one associations, and to `first` with the value of a column that has
    # a unique index; but not in a transaction, whose writes another connection would not see, nor with other
    # conditions.
    #
    #     Album.plugin :pelton_merging
    module PeltonMerging
      LONGEST = 63 # bits of a column's number, without its sign
      private_constant :LONGEST

      @merging = ::Pelton::Merging.new(:pelton_batches) do |model, column, key|
        ::Pelton::Sequel::Batch.new(model, column, key)
      end

      # @private
      def self.configure(model, *) = model.merge_finds = true

      class << self
        # @private
        def without(&block) = @merging.without(&block)

        # Finds a row by the value of a unique column.
        #
        # @private
        # @param model [Class]
        # @param column [Symbol]
        # @param key [Integer, String] as the column has it
        # @return [Sequel::Model, nil]
        # @asynchronous
        def find(model, column, key)
          unless wanted?(model) && mergeable?(model, column, key) && !holding?(model.db)
            return model.find_alone(column, key)
          end
          @merging.find(model, column, key) { model.find_alone(column, key) }
        end

        # @private
        def wanted?(model) = @merging.possible? && model.merges_finds?

        private

        # Whether the key cannot fail the shared query, and Ruby and the database agree on equality. (For text they may
        # not: see Batch.)
        def mergeable?(model, column, key)
          case model.db_schema.dig(column, :type)
          when :integer then key.is_a?(Integer)
          when :string, :uuid then key.is_a?(String) && key.ascii_only? &&
            key.bytesize <= ::Pelton::Sequel::Text::SHORT && !key.include?("\0")
          end
        end

        # Whether the fiber is in a transaction, holds a connection, or must read its own recent writes.
        def holding?(database)
          pool = database.pool
          return pool.sticky? || pool.held_by?(Fiber.current) if pool.is_a?(::Pelton::Sequel::Pool)
          # in_transaction? asks Sequel's pool for a connection: finds would park there, and come too late to join each
          # other
          !database.instance_variable_get(:@transactions).empty? && database.in_transaction?
        end
      end

      module ClassMethods
        # @return [Boolean] whether finds of this model share queries; inherited by subclasses
        attr_writer :merge_finds

        # @private
        def merges_finds? = @merge_finds.nil? ? superclass.merges_finds? : @merge_finds

        # Calls the block without merging this fiber's finds: each sends its own query.
        #
        # @return the block's value
        def without_merging(&block) = PeltonMerging.without(&block)

        # (see Sequel::Dataset#first)
        def first(*conditions, &block)
          unless conditions.size == 1 && !block && (pair = conditions.first).is_a?(Hash) && pair.size == 1 &&
              PeltonMerging.wanted?(self)
            return super
          end
          column, key = pair.first
          ((key.is_a?(Integer) || key.instance_of?(String)) &&
            unique_columns.include?(column)) ? PeltonMerging.find(self, column, key) : super
        end

        # @private
        # The primary key, and the columns with a unique index.
        #
        # @asynchronous at first
        def unique_columns
          @unique_columns ||= begin
            indexes = db.respond_to?(:indexes) ? db.indexes(table_name).values : []
            indexes.select! { |index| index[:unique] && index[:columns].size == 1 }
            [*(primary_key if primary_key.is_a?(Symbol)), *indexes.flat_map { |index| index[:columns] }].uniq
          rescue Sequel::Error, NotImplementedError
            [*(primary_key if primary_key.is_a?(Symbol))]
          end
        end

        # @private
        # Finds a row by the value of a unique column, in a separate query; with {Pelton::Sequel::Pool}, by a statement
        # that is built once. No row has a number that its column cannot have: PostgreSQL's literals would raise.
        #
        # @return [Sequel::Model, nil]
        # @asynchronous
        def find_alone(column, key)
          lookups = (@lookups ||= {})
          lookup = lookups.fetch(column) { lookups[column] = new_lookup(column) }
          return if key.is_a?(Integer) && key.bit_length > LONGEST && db_schema.dig(column, :type) == :integer
          return dataset.first(column => key) if lookup.nil? || !(key.instance_of?(Integer) || key.instance_of?(String))
          row = lookup.find(key)
          row && dataset.row_proc.call(row)
        end

        private

        # Sequel's way to a single row, also for many_to_one.
        def primary_key_lookup(key) = primary_key.is_a?(Symbol) ? PeltonMerging.find(self, primary_key, key) : super

        # Called when the dataset changes.
        def reset_instance_dataset
          @lookups = @unique_columns = nil
          super
        end

        def new_lookup(column)
          if simple_table && db.respond_to?(:driver)
            db.driver.lookup(dataset, "SELECT * FROM #{simple_table} WHERE #{dataset.literal(column)} = ")
          end
        end
      end
    end
  end
end
