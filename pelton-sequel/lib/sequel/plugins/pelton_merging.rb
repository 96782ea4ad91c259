# frozen_string_literal: true

require_relative "merging/batch"

module Pelton
  module Record
    @merge = true
    @unmerged = {}.compare_by_identity # fibers

    class << self
      # @return [Boolean] whether finds of different fibers share a query ({Merging}); true by default
      attr_accessor :merge

      # Calls the block without merging the finds of this fiber: each sends a query of its own. (For one model: `self.merge_finds = false`.)
      #
      # @return the block's value
      def without_merging
        fiber = Fiber.current
        before = @unmerged.key?(fiber)
        @unmerged[fiber] = true
        yield
      ensure
        @unmerged.delete(fiber) unless before
      end

      # @private
      def merge? = @merge && (@unmerged.empty? || !@unmerged.key?(Fiber.current))
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
          return model.find_alone(column, key) if !wanted?(model) || !Reactor.running? || !mergeable?(model, column, key) || holding?(model.db)
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

        private

        def wanted?(model) = Record.merge? && model.merges_finds?

        # Whether the key cannot fail the query that others share, and Ruby and the database agree about which values are the same. (Of
        # texts they may not: see Batch.)
        def mergeable?(model, column, key)
          case model.db_schema.dig(column, :type)
          when :integer then key.is_a?(Integer)
          when :string, :uuid then key.is_a?(String) && key.ascii_only? && key.bytesize <= Text::SHORT && !key.include?("\0")
          end
        end

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
        # @return [Boolean] whether finds of this model share queries; false for a class whose queries must be counted, in a benchmark
        #   for example. Classes that inherit from it have its value
        attr_writer :merge_finds

        # @private
        def merges_finds? = @merge_finds.nil? ? superclass.merges_finds? : @merge_finds

        # (see Querying#find)
        def find(*ids, &block)
          return super if ids.size != 1 || block || (id = ids.first).nil? || id.is_a?(Array) || !unscoped?
          dataset
          return super unless primary_key.is_a?(Symbol)
          id = id.pk if id.is_a?(Sequel::Model)
          primary_key_lookup(id) || relation.not_found(id)
        end

        # (see Relation::Finders#find_by)
        def find_by(*conditions, &block)
          return super if conditions.size != 1 || block || !(pair = conditions.first).is_a?(Hash) || pair.size != 1 || !unscoped?
          column, value = pair.first
          dataset
          case value
          when String, Numeric, Symbol, Time, Date, true, false then return super unless unique_columns.include?(column)
          else return super
          end
          key = comparable(column, value)
          return super unless key.is_a?(Integer) || key.instance_of?(String)
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
        rescue Sequel::DatabaseError => error
          raise if !db.respond_to?(:driver) || !db.driver.impossible_value?(error) || db.in_transaction? # which it has ended
          nil
        end

        private

        # Sequel's way to one row, of belongs_to as well.
        def primary_key_lookup(key)
          return relation.find_by(primary_key_hash(key)) unless default_scopes.empty?
          return super if key.is_a?(Array)
          key = comparable(primary_key, key) unless key.is_a?(Integer) && key.bit_length < 64 && integer_key?
          Merging.find(self, primary_key, key) unless key.nil?
        rescue Sequel::InvalidValue # no row has such a key
          nil
        end

        # The usual key, which needs no cast.
        def integer_key?
          @integer_key = integers?(primary_key) if @integer_key.nil?
          @integer_key
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
