# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Eager loading of associations. They would also load on first use, by one query for all records.
      module Eager
        # Loads associations right after the records, by a query each, or by joins if conditions name their tables.
        #
        # @example includes(:author, comments: :author)
        # @return [Relation]
        def includes(*associations)
          names = associations.flatten
          found = derived(dataset.eager(*names))
          dataset.opts[:references] ? found.send(:joining_referenced) : found
        end

        # Loads associations right after the records, by a query each.
        #
        # @return [Relation]
        def preload(*associations) = derived(dataset.eager(*associations.flatten))

        # Loads associations in the same query, by joins, so that conditions may name their tables.
        #
        # @return [Relation]
        def eager_load(*associations) = derived(dataset.eager_graph(*associations.flatten.map { |one| named_in_graph(one) }))

        # Declares that a condition in SQL names the table of an association of {#includes}, which is then joined.
        #
        # @param tables [Array<Symbol>]
        # @return [Relation]
        def references(*tables) = derived(dataset.clone(references: [*dataset.opts[:references], *tables.map(&:to_sym)])).send(:joining_referenced)

        private

        def named_in_graph(association)
          case association
          when Symbol, Hash then named(dataset, model, association).first
          else association
          end
        end

        # A query's objects. With joins, a limit must count objects, not rows, so their keys are read first.
        def objects(rows)
          return rows.all.each(&:readonly!) if rows.opts[:readonly]
          return rows.all unless limited_graph?(rows)
          rows.unlimited.where(qualified_keys(rows) => graph_keys(rows)).all
        end

        def limited_graph?(rows) = rows.opts[:eager_graph] && (rows.opts[:limit] || rows.opts[:offset])

        def qualified_keys(rows) = Array(model.primary_key).map { |name| Condition.qualified(rows, name) }

        # @return [Array<Array>]
        def graph_keys(rows)
          keys = qualified_keys(rows)
          graph_free(rows).select(*keys).group(*keys).map { |row| row.values_at(*Array(model.primary_key)) }
        end

        # Joins associations of `includes` whose tables conditions name.
        def joining_referenced
          loaded = dataset.opts[:eager] or return self
          joined = loaded.select { |name, deeper| referenced?(model, {name => deeper}) }
          return self if joined.empty?
          rest = loaded.except(*joined.keys)
          derived(dataset.clone(eager: rest.empty? ? nil : rest)).eager_load(*joined.map { |name, deeper| deeper ? {name => deeper} : name })
        end

        # @param association [Symbol, Hash, Array, nil] as `includes` takes them
        def referenced?(owner, association)
          case association
          when nil then false
          when Array then association.any? { |one| referenced?(owner, one) }
          when Hash
            association.any? { |name, deeper| referenced?(owner, name) || (deeper && referenced?(owner.association_reflection(name).associated_class, deeper)) }
          else
            reflection = owner.association_reflection(association)
            !reflection[:polymorphic] && named_elsewhere?([association, reflection.associated_class.table_name])
          end
        end

        # Whether conditions name a table that is not joined.
        def named_elsewhere?(names)
          (dataset.opts[:references] & names).any? && dataset.opts[:join].to_a.none? { |join| names.include?(join.table_alias || join.table) }
        end
      end
    end
  end
end
