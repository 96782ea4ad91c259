# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Reads many rows in batches, by primary key. Each batch is a separate query, so no connection is held in between.
      module Batches
        BATCH = 1000

        # Returned by `in_batches` without a block.
        class Each < Enumerator
          # @yieldparam record [Model]
          # @asynchronous
          def each_record(&block) = block ? each { |batch| batch.to_a.each(&block) } : to_enum(:each_record)

          %i[update_all delete_all touch_all].each do |name|
            # @return [Integer] number of rows
            # @asynchronous
            define_method(name) { |*arguments, **options| sum { |batch| batch.public_send(name, *arguments, **options) } }
          end

          # @asynchronous
          def destroy_all = each(&:destroy_all)
        end

        # @example find_each { |user| user.greet }
        # @param batch_size [Integer] rows per batch
        # @param start [Object, nil] the first key
        # @param finish [Object, nil] the last key
        # @param order [Symbol] :asc or :desc
        # @yieldparam record [Model]
        # @return [nil, Enumerator] an Enumerator without a block
        # @asynchronous
        def find_each(batch_size: BATCH, start: nil, finish: nil, order: :asc, &block)
          return enum_for(:find_each, batch_size: batch_size, start: start, finish: finish, order: order) { size } unless block
          find_in_batches(batch_size: batch_size, start: start, finish: finish, order: order) { |records| records.each(&block) }
        end

        # @yieldparam records [Array<Model>]
        # @return [nil, Enumerator] an Enumerator without a block
        # @asynchronous
        def find_in_batches(batch_size: BATCH, start: nil, finish: nil, order: :asc)
          return enum_for(:find_in_batches, batch_size: batch_size, start: start, finish: finish, order: order) unless block_given?
          in_batches(of: batch_size, start: start, finish: finish, order: order, load: true) { |batch| yield batch.to_a }
        end

        # @example in_batches { |users| users.update_all(checked: true) }
        # @param of [Integer] rows per batch
        # @param load [Boolean] whether to read records, rather than keys
        # @yieldparam batch [Relation]
        # @return [nil, Enumerator] an Enumerator without a block
        # @asynchronous
        def in_batches(of: BATCH, start: nil, finish: nil, order: :asc, load: false)
          return Each.new { |batches| in_batches(of: of, start: start, finish: finish, order: order, load: load) { |batch| batches << batch } } unless block_given?
          raise ArgumentError, "a batch has at least one row: of: 1000" unless of.is_a?(Integer) && of.positive?
          key = model.primary_key
          raise ArgumentError, "batches need a primary key of one column, and #{model} has #{key.inspect}" unless key.is_a?(Symbol)
          column = Condition.qualified(dataset, key)
          beyond = (order == :desc) ? :< : :>
          first, last = (order == :desc) ? [finish, start] : [start, finish]
          rows = dataset
          rows = rows.where(Condition.of(self, {key => (first..)})) if first
          rows = rows.where(Condition.of(self, {key => (..last)})) if last
          left = dataset.opts[:limit]
          rows = rows.order((order == :desc) ? ::Sequel.desc(column) : column)
          after = nil
          until left == 0
            size = left ? [of, left].min : of
            page = derived((after ? rows.where(column.public_send(beyond, after)) : rows).limit(size, (dataset.opts[:offset] unless after)))
            keys = load ? page.records.map(&:pk) : page.pluck(key)
            break if keys.empty?
            yield(load ? page : derived(dataset.unlimited.where(column => keys)))
            after = keys.last
            left -= keys.size if left
            break if keys.size < size
          end
        end
      end
    end
  end
end
