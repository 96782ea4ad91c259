# frozen_string_literal: true

require "pelton/database"
require "pelton/database/batch"

module Sequel
  module Plugins
    # Finds by a key that different fibers ask for in the same turn of the loop become one query: `WHERE id IN (...)`. The first one
    # lets the fibers go first that are ready; if none of them asks, it queries alone. No find waits for anything else.
    #
    # It is done for `Album[1]`, `with_pk` and many_to_one associations, and for `first` with the value of a column that has a unique index.
    # Never in a transaction, since another connection would not see what it has written, nor with other conditions.
    #
    #     Album.plugin :pelton_merging
    module PeltonMerging
      BATCHES = :pelton_batches # of a thread: model => column => Batch
      private_constant :BATCHES

      @unmerged = {}.compare_by_identity # fibers

      # @private
      def self.configure(model, *) = model.merge_finds = true

      class << self
        # @private
        def without
          fiber = Fiber.current
          before = @unmerged.key?(fiber)
          @unmerged[fiber] = true
          yield
        ensure
          @unmerged.delete(fiber) unless before
        end

        # Finds a row by the value of a unique column.
        #
        # @private
        # @param model [Class]
        # @param column [Symbol]
        # @param key [Integer, String] as the column has it
        # @return [Sequel::Model, nil]
        # @asynchronous
        def find(model, column, key)
          return model.find_alone(column, key) unless wanted?(model) && mergeable?(model, column, key) && !holding?(model.db)
          thread = Thread.current
          batches = thread.thread_variable_get(BATCHES) || {}.compare_by_identity.tap { |made| thread.thread_variable_set(BATCHES, made) }
          columns = (batches[model] ||= {})
          batch = columns[column]
          return batch.join(key) if batch
          batch = columns[column] = Pelton::Database::Batch.new(model, column, key)
          begin
            Pelton::Reactor.current.yield
          ensure
            columns.delete(column)
            batch.start unless batch.alone?
          end
          batch.alone? ? model.find_alone(column, key) : batch.wait(key)
        end

        # @private
        def wanted?(model) = Pelton::Reactor.running? && model.merges_finds? && (@unmerged.empty? || !@unmerged.key?(Fiber.current))

        private

        # Whether the key cannot fail the query that others share, and Ruby and the database agree about which values are the same. (Of
        # texts they may not: see Batch.)
        def mergeable?(model, column, key)
          case model.db_schema.dig(column, :type)
          when :integer then key.is_a?(Integer)
          when :string, :uuid then key.is_a?(String) && key.ascii_only? && key.bytesize <= Pelton::Database::Text::SHORT && !key.include?("\0")
          end
        end

        # Whether the fiber is inside a transaction, or holds a connection for another reason, or must read what it has just written.
        def holding?(database)
          pool = database.pool
          return pool.sticky? || pool.held_by?(Fiber.current) if pool.is_a?(Pelton::Database::Pool)
          !database.instance_variable_get(:@transactions).empty? && database.in_transaction? # which asks Sequel's pool for a connection, and may park
        end
      end

      module ClassMethods
        # @return [Boolean] whether finds of this model share queries. Classes that inherit from it have its value
        attr_writer :merge_finds

        # @private
        def merges_finds? = @merge_finds.nil? ? superclass.merges_finds? : @merge_finds

        # Calls the block without merging the finds of this fiber: each sends a query of its own.
        #
        # @return the block's value
        def without_merging(&block) = PeltonMerging.without(&block)

        # (see Sequel::Dataset#first)
        def first(*conditions, &block)
          return super unless conditions.size == 1 && !block && (pair = conditions.first).is_a?(Hash) && pair.size == 1 && PeltonMerging.wanted?(self)
          column, key = pair.first
          ((key.is_a?(Integer) || key.instance_of?(String)) && unique_columns.include?(column)) ? PeltonMerging.find(self, column, key) : super
        end

        # @private
        # The primary key, and the columns that have a unique index of their own.
        #
        # @asynchronous at first
        def unique_columns
          @unique_columns ||= begin
            indexes = db.indexes(table_name).each_value.select { |index| index[:unique] && index[:columns].size == 1 }
            [*(primary_key if primary_key.is_a?(Symbol)), *indexes.flat_map { |index| index[:columns] }].uniq
          rescue Sequel::Error, NotImplementedError
            [*(primary_key if primary_key.is_a?(Symbol))]
          end
        end

        # @private
        # Finds a row by the value of a unique column, by a query of its own: with {Pelton::Database::Pool} by a statement that is made once.
        #
        # @return [Sequel::Model, nil]
        # @asynchronous
        def find_alone(column, key)
          lookups = (@lookups ||= {})
          lookup = lookups.fetch(column) { lookups[column] = new_lookup(column) }
          return dataset.first(column => key) if lookup.nil? || !(key.instance_of?(Integer) || key.instance_of?(String))
          row = lookup.find(key)
          row && dataset.row_proc.call(row)
        end

        private

        # Sequel's way to one row, of many_to_one as well.
        def primary_key_lookup(key) = primary_key.is_a?(Symbol) ? PeltonMerging.find(self, primary_key, key) : super

        # The dataset, and what depends on it, has changed.
        def reset_instance_dataset
          @lookups = @unique_columns = nil
          super
        end

        def new_lookup(column)
          db.driver.lookup(dataset, "SELECT * FROM #{simple_table} WHERE #{dataset.literal(column)} = ") if simple_table && db.respond_to?(:driver)
        end
      end
    end
  end
end
