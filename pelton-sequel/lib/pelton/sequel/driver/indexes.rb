# frozen_string_literal: true

module Pelton
  module Sequel
    # Lets Sequel list the indexes of a table that has an index on an expression, which has no column name.
    # @private
    module Indexes
      # @return [Hash{Symbol => Hash}] without indexes on expressions, as on PostgreSQL
      # @asynchronous
      def indexes(...) = super.reject { |_, index| index[:columns].include?(nil) }

      private

      def output_identifier_meth(...) = super.then { |name_of| ->(name) { name.nil? ? nil : name_of.call(name) } }
    end
  end
end
