# frozen_string_literal: true

module Pelton
  module Record
    # Columns that the model ignores, for example because they will be dropped.
    module IgnoredColumns
      # @return [Array<Symbol>]
      def ignored_columns = @ignored_columns || (superclass.respond_to?(:ignored_columns) ? superclass.ignored_columns : [])

      # Objects neither have nor write these attributes. The database still sends them; to avoid that, use `select`.
      #
      # @example self.ignored_columns = [:legacy_name]
      # @param names [Array<Symbol, String>] replace earlier ones
      def ignored_columns=(names)
        @ignored_columns = names.map(&:to_sym)
        extend(Rows)
        include(Row)

        forget_table
      end

      # Drops ignored columns from rows that a model reads.
      # @private
      module Rows
        def call(values)
          ignored_columns.each { |name| values.delete(name) }
          super
        end
      end

      # Drops ignored columns from rows that come back from writing or reloading an object.
      # @private
      module Row
        private

        def _save_set_values(values) = super(values.except(*model.ignored_columns))

        def _refresh_set_values(values) = super(values.except(*model.ignored_columns))
      end

      private

      def get_db_schema(...) = super&.except(*ignored_columns)

      def set_columns(names) = super(names && (names - ignored_columns))
    end
  end
end
