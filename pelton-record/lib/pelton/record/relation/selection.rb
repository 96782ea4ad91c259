# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # select, distinct, group, from, and row locks.
      module Selection
        # Selects columns. With a block, filters the records, like Array#select.
        #
        # @example select(:id, :name), select("COUNT(*) AS posts"), select { |user| user.admin? }
        # @param columns [Array<Symbol, String, Sequel::SQL::Expression>] a String is SQL
        # @return [Relation, Array<Model>]
        # @asynchronous with a block
        def select(*columns, &block)
          return records.select(&block) if block
          derived(dataset.select_append(*selected(columns)).then { |found| dataset.opts[:select] ? found : dataset.select(*selected(columns)) })
        end

        # @return [Relation] without duplicate rows
        def distinct(value = true) = derived(value ? dataset.distinct : dataset.clone(distinct: nil))

        # @param columns [Array<Symbol, String, Sequel::SQL::Expression>] a String is SQL
        # @return [Relation]
        def group(*columns) = derived(dataset.group_append(*selected(columns)))

        # Reads from a subquery, or another table.
        #
        # @param source [Relation, Sequel::Dataset, Symbol, String] a String that is no name is SQL
        # @param name [Symbol] its name in the query
        # @return [Relation]
        def from(source, name = model.table_name)
          source = source.dataset if source.is_a?(Relation)
          source = named_source(source) if source.is_a?(String)
          derived(dataset.from(source.is_a?(::Sequel::Dataset) ? source.as(name.to_sym) : source))
        end

        # Makes the objects read-only: writing them raises {ReadOnly}.
        #
        # @return [Relation]
        def readonly(value = true) = derived(dataset.clone(readonly: value))

        # Locks the rows until the transaction ends. Has no effect on SQLite.
        #
        # @param mode [Boolean, String] true for FOR UPDATE, or the database's own clause, such as "FOR SHARE"
        # @return [Relation]
        def lock(mode = true)
          return derived(dataset.clone(lock: nil)) unless mode
          derived(if mode == true
            dataset.for_update
          else
            dataset.lock_style(mode.is_a?(String) ? " #{mode}" : mode)
          end)
        end

        # @param parts [Array<Symbol>] :where, :order, :limit, :offset, :select, :group, :having, :joins, :includes, :lock, :distinct
        # @return [Relation] without them
        def unscope(*parts, where: nil)
          found = parts.empty? ? self : derived(dataset.clone(parts.to_h { |part| [{joins: :join, includes: :eager}.fetch(part, part), nil] }))
          where ? found.send(:unconditioned, Array(where).map { |name| column(name) }) : found
        end
        alias_method :except, :unscope

        # @private
        # The query as a list of keys.
        def for_subquery
          return dataset if dataset.opts[:select]&.none? { |one| one.is_a?(::Sequel::SQL::ColumnAll) }
          dataset.select(*Array(model.primary_key).map { |key| Condition.qualified(dataset, key) })
        end

        private

        # "users", "(SELECT ...) AS users"
        def named_source(text)
          return text.to_sym if text.match?(/\A\w+\z/)
          match = /\A(.+?)\s+(?:AS\s+)?(\w+)\z/im.match(text)
          match ? ::Sequel.as(::Sequel.lit(match[1]), match[2].to_sym) : ::Sequel.lit(text)
        end

        def selected(columns)
          columns.flatten.map do |name|
            case name
            when Symbol then column(name)
            when ::Sequel::SQL::Expression, ::Sequel::LiteralString then name
            when String then name.match?(/\A\w+(\.\w+)?\z/) ? column(name) : ::Sequel.lit(name)
            else raise ArgumentError, "a #{name.class} is no column"
            end
          end
        end
      end
    end
  end
end
