# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Associations that are loaded with the records. They would be at their first use, too ({Together}): one query for all records.
      module Eager
        # Loads associations right after the records, by a query each.
        #
        # @example includes(:author, comments: :author)
        # @return [Relation]
        def includes(*associations) = with(dataset.eager(*associations.flatten))
        alias_method :preload, :includes

        # Loads associations in the same query, by joins, so conditions may name their tables.
        #
        # @return [Relation]
        def eager_load(*associations) = with(dataset.eager_graph(*associations.flatten.map { |one| named_in_graph(one) }))

        private

        def named_in_graph(association)
          return association unless association.is_a?(Symbol)
          named(dataset, model, association).first
        end
      end
    end
  end
end
