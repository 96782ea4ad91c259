# frozen_string_literal: true

require_relative "condition"

module Pelton
  module Record
    class Relation
      # where, not, or. Values are cast to their column's type and bound or quoted; names are quoted.
      module Conditions
        # Returned by `where` without arguments: `where.not(...)`.
        class Chain
          # @param relation [Relation]
          def initialize(relation)
            @relation = relation
          end

          # @param conditions see {Conditions#not}
          # @return [Relation]
          def not(...) = @relation.not(...)

          # Adds the condition that there is no associated object.
          #
          # @param names [Array<Symbol>] of associations
          # @return [Relation]
          def missing(*names) = names.inject(@relation) { |found, name| found.not(Condition.related(found.model, name)) }

          # Adds the condition that there is an associated object.
          #
          # @param names [Array<Symbol>] of associations
          # @return [Relation]
          def associated(*names) = names.inject(@relation) { |found, name| found.where(Condition.related(found.model, name)) }
        end

        # Adds conditions.
        #
        # @example
        #   where(name: "Ann", age: 18..30, city: ["Rome", nil], author: user, posts: {draft: false})
        #   where("age > ?", 18)
        #   where("age > :age", age: 18)
        #   where { age > 18 } # Sequel's expressions
        # @return [Relation, Chain] a Chain without arguments
        # @raise [ArgumentError] for other arguments, or if the number of bound values is wrong
        def where(*conditions, &block)
          return Chain.new(self) if conditions.empty? && !block
          first = conditions.first
          return self if conditions.size == 1 && (first.nil? || (first.is_a?(String) ? first.blank? : first.respond_to?(:empty?) && first.empty?))
          found = derived(dataset.where(*(Condition.of(self, *conditions) unless conditions.empty?), &block), given_by(first))
          tables = Condition.tables_of(first) if first.is_a?(Hash)
          (tables.nil? || tables.empty?) ? found : found.references(*tables)
        end

        # Adds negated conditions.
        #
        # @param (see #where)
        # @return [Relation]
        def not(*conditions, &block)
          derived(conditions.empty? ? dataset.exclude(&block) : dataset.exclude(Condition.of(self, *conditions)))
        end

        # Replaces the conditions on these columns.
        #
        # @return [Relation]
        def rewhere(conditions) = unconditioned(conditions.keys.map { |name| column(name) }).where(conditions)

        # @param records [Array<Model, Relation>]
        # @return [Relation] without these
        def excluding(*records)
          keys = records.flat_map { |one| one.is_a?(Relation) ? one.ids : Array(one) }.compact.map { |one| one.is_a?(::Sequel::Model) ? one.pk : one }
          keys.empty? ? self : self.not(model.primary_key => keys)
        end
        alias_method :without, :excluding

        # Combines this relation's conditions with another's by OR. (With a Hash or an expression, this is Sequel's `or`.)
        #
        # @param other [Relation, Sequel::Dataset, Object]
        # @return [Relation]
        def or(other)
          return derived(dataset.or(Condition.of(self, other)), ::Sequel::OPTS) unless other.is_a?(Relation) || other.is_a?(::Sequel::Dataset)
          other = other.dataset if other.is_a?(Relation)
          return derived(other, ::Sequel::OPTS) if nothing?(dataset)
          return self if nothing?(other)
          theirs = other.opts[:where]
          mine = dataset.opts[:where]
          derived((mine && theirs) ? dataset.clone(where: ::Sequel.|(mine, theirs)) : dataset.unfiltered, ::Sequel::OPTS)
        end

        # Adds another relation's conditions, joins and order, of this model or a joined one. Its conditions replace those on the same column.
        #
        # @param other [Relation, Hash]
        # @return [Relation]
        def merge(other)
          return where(other) if other.is_a?(Hash)
          theirs = other.dataset.opts
          found = dataset
          found = found.clone(join: [*found.opts[:join], *theirs[:join]]) if theirs[:join]
          found = unconditioned(Condition.parts_of(theirs[:where]).filter_map { |part| Condition.column_of(part) }).dataset.then { |rest| found.clone(where: rest.opts[:where]).where(theirs[:where]) } if theirs[:where]
          found = found.order_append(*theirs[:order]) if theirs[:order]
          found = found.clone(limit: theirs[:limit], offset: theirs[:offset]) if theirs[:limit]
          derived(found)
        end

        # Adds conditions on groups.
        #
        # @example group(:city).having("COUNT(*) > ?", 5)
        # @return [Relation]
        def having(*conditions, &block) = derived(dataset.having(*(Condition.of(self, *conditions) unless conditions.empty?), &block))

        # Returns a relation without rows, which sends no query.
        #
        # @return [Relation]
        def none = derived(dataset.extension(:null_dataset).nullify.clone(nothing: true))

        private

        def nothing?(rows) = rows.opts[:nothing]

        # Removes the conditions on these columns.
        def unconditioned(columns)
          parts = Condition.parts_of(dataset.opts[:where])
          rest = parts.reject { |part| columns.include?(Condition.column_of(part)) }
          return self if rest.size == parts.size
          derived(rest.empty? ? dataset.unfiltered : dataset.clone(where: Condition.all_of(rest)), given.except(*columns.flat_map { |one| [one.try(:column) || one, (one.try(:column) || one).to_s] }))
        end

        def given_by(conditions)
          return given unless conditions.is_a?(Hash)
          found = conditions.each_with_object({}) do |(name, value), given|
            given[name.is_a?(String) ? name : name.to_sym] = value unless value.is_a?(Array) || value.is_a?(Hash) || value.is_a?(Range) || value.is_a?(Relation) || !name.respond_to?(:to_sym) || name.to_s.include?(".")
          end
          found.empty? ? given : given.merge(found)
        end
      end
    end
  end
end
