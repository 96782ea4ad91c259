# frozen_string_literal: true

require_relative "condition"

module Pelton
  module Record
    class Relation
      # where, not, or. Each value is cast to its column's type and bound or quoted; each name is quoted.
      module Conditions
        # What `where` without arguments gives: `where.not(...)`.
        Chain = Struct.new(:relation) do
          def not(...) = relation.not(...)

          # Without a related object.
          #
          # @param names [Array<Symbol>] of associations
          # @return [Relation]
          def missing(*names) = names.inject(relation) { |found, name| found.not(Condition.related(relation.model, name)) }

          # With a related object.
          def associated(*names) = names.inject(relation) { |found, name| found.where(Condition.related(relation.model, name)) }
        end

        # Adds conditions.
        #
        # @example
        #   where(name: "Ann", age: 18..30, city: ["Rome", nil], author: user, posts: {draft: false})
        #   where("age > ?", 18)
        #   where("age > :age", age: 18)
        #   where { age > 18 } # Sequel's expressions
        # @return [Relation, Chain] a Chain without arguments
        # @raise [ArgumentError] for anything else, and when the number of bound values is wrong
        def where(*conditions, &block)
          return Chain.new(self) if conditions.empty? && !block
          first = conditions.first
          return self if conditions.size == 1 && (first.nil? || (first.respond_to?(:empty?) && first.empty?))
          with(dataset.where(*(Condition.of(self, *conditions) unless conditions.empty?), &block), given_by(first))
        end

        # Adds a condition that must not be true.
        #
        # @param (see #where)
        # @return [Relation]
        def not(*conditions, &block)
          with(conditions.empty? ? dataset.exclude(&block) : dataset.exclude(Condition.of(self, *conditions)))
        end

        # Replaces the conditions on these columns.
        #
        # @return [Relation]
        def rewhere(conditions) = without(*conditions.keys).where(conditions)

        # Either this relation's conditions or the other's. (Given a Hash or an expression, as Sequel's `or`.)
        #
        # @param other [Relation, Sequel::Dataset, Object]
        # @return [Relation]
        def or(other)
          return with(dataset.or(Condition.of(self, other)), Sequel::OPTS) unless other.is_a?(Relation) || other.is_a?(Sequel::Dataset)
          theirs = (other.is_a?(Relation) ? other.dataset : other).opts[:where]
          mine = dataset.opts[:where]
          with((mine && theirs) ? dataset.clone(where: Sequel.|(mine, theirs)) : dataset.unfiltered, Sequel::OPTS)
        end

        # Both this relation's conditions and the other's.
        #
        # @param other [Relation]
        # @return [Relation]
        def and(other) = with((condition = other.dataset.opts[:where]) ? dataset.where(condition) : dataset)

        # Adds what another relation, of this model or of a joined one, says: its conditions, joins and order.
        #
        # @param other [Relation, Hash]
        # @return [Relation]
        def merge(other)
          return where(other) if other.is_a?(Hash)
          theirs = other.dataset.opts
          found = dataset
          found = found.clone(join: [*found.opts[:join], *theirs[:join]]) if theirs[:join]
          found = found.where(theirs[:where]) if theirs[:where]
          found = found.order_append(*theirs[:order]) if theirs[:order]
          found = found.clone(limit: theirs[:limit], offset: theirs[:offset]) if theirs[:limit]
          with(found)
        end

        # Conditions on groups.
        #
        # @example group(:city).having("COUNT(*) > ?", 5)
        # @return [Relation]
        def having(*conditions, &block) = with(dataset.having(*(Condition.of(self, *conditions) unless conditions.empty?), &block))

        # Finds nothing, without a query.
        #
        # @return [Relation]
        def none = with(dataset.extension(:null_dataset).nullify)

        private

        # Conditions and order without those that name one of the columns.
        def without(*columns)
          names = columns.map(&:to_sym)
          condition = dataset.opts[:where] or return self
          parts = (condition.is_a?(Sequel::SQL::BooleanExpression) && condition.op == :AND) ? condition.args : [condition]
          rest = parts.reject { |part| names.include?(Condition.column_of(part)) }
          with(rest.empty? ? dataset.unfiltered : dataset.clone(where: Condition.all_of(rest)), @given.except(*names))
        end

        def given_by(conditions)
          return @given unless conditions.is_a?(Hash)
          found = conditions.each_with_object({}) do |(name, value), given|
            given[name.to_sym] = value unless value.is_a?(Array) || value.is_a?(Hash) || value.is_a?(Range) || value.is_a?(Relation) || !name.respond_to?(:to_sym) || name.to_s.include?(".")
          end
          found.empty? ? @given : @given.merge(found)
        end
      end
    end
  end
end
