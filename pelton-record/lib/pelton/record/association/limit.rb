# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # The rows that an association leads to, after the class's default scope and the association's own. Evaluated for each query, since a
      # scope may depend on the time or on a tenant.
      # @private
      class Limit
        # Parts of a query that do not limit which rows are joined.
        SHAPE = %i[order limit offset select distinct group having lock eager eager_graph readonly references].to_h { |part| [part, nil] }.freeze
        private_constant :SHAPE

        # Conditions of an association's scope replace the default scope's on the same column.
        #
        # @param relation [Relation] the default scope's rows
        # @yieldparam relation [Relation] all rows
        # @yieldreturn [Sequel::Dataset] the association's rows
        # @return [Relation] without the default scope's conditions that are replaced
        def self.without_replaced(relation)
          model, dataset = relation.model, relation.dataset
          return relation if model.default_scopes.empty?
          all = (dataset.first_source_alias == model.table_name) ? model.dataset : model.dataset.from(::Sequel.as(model.table_name, dataset.first_source_alias))
          columns = Relation::Condition.parts_of(yield(Relation.new(model, all)).opts[:where]).filter_map { |part| Relation::Condition.column_of(part) }
          return relation if columns.empty?
          replaced = Relation::Condition.parts_of(model.associated_rows(all).opts[:where]).select { |part| columns.include?(Relation::Condition.column_of(part)) }
          kept = Relation::Condition.parts_of(dataset.opts[:where]) - replaced
          Relation.new(model, dataset.clone(where: kept.empty? ? nil : Relation::Condition.all_of(kept)))
        end

        # @param reflection [Sequel::Model::Associations::AssociationReflection]
        def initialize(reflection)
          @reflection = reflection
        end

        # @return [Boolean] whether there is any limit
        def any? = @reflection[:scopes].any? || model.default_scopes.any? || !model.dataset.opts[:where].nil?

        # @param rows [Sequel::Dataset]
        # @return [Sequel::Dataset]
        def rows(rows = model.dataset) = @reflection[:scopes].inject(model.associated_rows(rows)) { |found, scope| scope.call(found) }

        # @return [Sequel::Dataset] for a join, or a list of keys
        def table
          found = rows
          found = found.clone(SHAPE)
          found.opts[:join] ? found.select_all(model.table_name) : found
        end

        # @param name [Symbol] the table's name in the query
        # @return [Sequel::SQL::Expression]
        def on(name)
          return keys(name) if name != model.table_name && model.dataset.opts[:where]
          found = rows((name == model.table_name) ? model.dataset : model.dataset.from(::Sequel.as(model.table_name, name)))
          return keys(name) if found.opts[:join]
          found.opts[:where] || ::Sequel::SQLTRUE
        end

        private

        def model = @reflection.associated_class

        def keys(name)
          columns = Array(model.primary_key)
          found = table.select(*columns.map { |column| ::Sequel.qualify(model.table_name, column) })
          ::Sequel.expr(((columns.size == 1) ? ::Sequel.qualify(name, columns.first) : columns.map { |column| ::Sequel.qualify(name, column) }) => found)
        end
      end
    end
  end
end
