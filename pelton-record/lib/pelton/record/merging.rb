# frozen_string_literal: true

require_relative "merging/batch"

module Pelton
  module Record
    @merge = true

    class << self
      # @return [Boolean] whether finds of different fibers share a query ({Merging}); true by default
      attr_accessor :merge
    end

    # Finds by a key that different fibers ask for in the same turn of the loop become one query: `WHERE id IN (...)`. The first one
    # lets the fibers go first that are ready; if none of them asks, it queries alone. No find waits for anything else.
    #
    # It is done for `find`, for `find_by` on a column with a unique index, and for `belongs_to`. Never in a transaction, since another
    # connection would not see what it has written, nor with a lock, nor with other conditions.
    module Merging
      BATCHES = :pelton_record_batches # of a thread: model => column => Batch
      private_constant :BATCHES

      class << self
        # Finds a row by the value of a unique column.
        #
        # @param model [Class]
        # @param column [Symbol]
        # @param key [Integer, String] as the column has it
        # @return [Model, nil]
        # @asynchronous
        def find(model, column, key)
          return model.find_alone(column, key) if !Record.merge || !Reactor.running? || !mergeable?(key) || holding?(model.db)
          thread = Thread.current
          batches = thread.thread_variable_get(BATCHES) || {}.compare_by_identity.tap { |made| thread.thread_variable_set(BATCHES, made) }
          columns = (batches[model] ||= {})
          batch = columns[column]
          return batch.join(key) if batch
          batch = columns[column] = Batch.new(model, column, key)
          begin
            Reactor.current.yield
          ensure
            columns.delete(column)
            batch.start unless batch.alone?
          end
          batch.alone? ? model.find_alone(column, key) : batch.wait(key)
        end

        # @private
        # Whether Ruby and the database agree about which values are the same. (Of texts they may not: see Batch.)
        def mergeable?(key) = key.is_a?(Integer) || key.is_a?(String)

        private

        # Whether the fiber is inside a transaction, or holds a connection for another reason, or must read what it has just written.
        def holding?(database)
          pool = database.pool
          return database.in_transaction? unless pool.is_a?(Pool)
          pool.sticky? || pool.held_by?(Fiber.current)
        end
      end

      # @private
      # Of models.
      module ClassMethods
        # (see Querying#find)
        def find(*ids, &block)
          return super if ids.size != 1 || block || (id = ids.first).is_a?(Array) || !unscoped?
          dataset
          id = cast(primary_key, id.is_a?(Sequel::Model) ? id.pk : id) unless id.is_a?(Integer) && id.bit_length < 64
          found = primary_key_lookup(id) unless id.nil?
          found || super
        rescue Sequel::InvalidValue
          super
        end

        # (see Relation::Finders#find_by)
        def find_by(*conditions, &block)
          return super if conditions.size != 1 || block || !(pair = conditions.first).is_a?(Hash) || pair.size != 1 || !unscoped?
          column, value = pair.first
          dataset
          return super unless unique_columns.include?(column) && Merging.mergeable?(value)
          key = cast(column, value)
          return super unless Merging.mergeable?(key)
          Merging.find(self, column, key)
        rescue Sequel::InvalidValue
          nil
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
        # Finds a row by the value of a unique column, by a query of its own.
        #
        # @return [Model, nil]
        # @asynchronous
        def find_alone(column, key)
          lookups = (@lookups ||= {})
          lookup = lookups.fetch(column) { lookups[column] = new_lookup(column) }
          return dataset.first(column => key) if lookup.nil? || !(key.instance_of?(Integer) || key.instance_of?(String))
          row = lookup.find(key)
          row && dataset.row_proc.call(row)
        end

        private

        # Sequel's way to one row, of belongs_to as well.
        def primary_key_lookup(key)
          return relation.find_by(primary_key_hash(key)) unless default_scopes.empty?
          return super if key.is_a?(Array)
          Merging.find(self, primary_key, key)
        end

        # The dataset, and what depends on it, has changed.
        def reset_instance_dataset
          @lookups = nil
          super
        end

        def new_lookup(column)
          db.driver.lookup(dataset, "SELECT * FROM #{simple_table} WHERE #{dataset.literal(column)} = ") if simple_table && db.respond_to?(:driver)
        end
      end
    end
  end
end
