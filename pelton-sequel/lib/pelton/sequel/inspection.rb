# frozen_string_literal: true

require "pelton/sql_text"

module Pelton
  module Sequel
    # For datasets: `inspect`, which Ruby's errors and debuggers show, has the query without values, since these may be
    # secret; `sql` has them.
    # @private
    module Inspection
      # For a dataset whose SQL is to be shown: question marks in the place of values.
      module NoValues
        def literal_append(sql, value)
          case value
          when nil, true, false, Symbol, ::Sequel::LiteralString, ::Sequel::SQL::Expression, ::Sequel::Dataset
            super
          when Array, Set then super(sql, value.first(1).to_a)
          else sql << "?"
          end
        end
      end
      private_constant :NoValues

      # @return [String]
      def inspect = "#<#{visible_class_name}: #{Inspection.without_values(self).inspect}>"

      # @param dataset [Sequel::Dataset]
      # @return [String] SQL with question marks for values
      def self.without_values(dataset)
        dataset = dataset.no_auto_parameterize if dataset.respond_to?(:no_auto_parameterize)
        # The program's own text may contain values, too
        SQLText.without_values(dataset.with_extend(NoValues).sql, dataset.db.database_type)
      end
    end
  end
end
