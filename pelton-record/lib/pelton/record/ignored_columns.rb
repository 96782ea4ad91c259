# frozen_string_literal: true

module Pelton
  module Record
    # Columns that the model does not know, though the table has them: they are about to be dropped, for example.
    module IgnoredColumns
      # @return [Array<Symbol>]
      def ignored_columns = @ignored_columns || (superclass.respond_to?(:ignored_columns) ? superclass.ignored_columns : [])

      # Objects have no such attributes, and never write them. The database still sends them: to save that, read with `select`.
      #
      # @example self.ignored_columns = [:legacy_name]
      # @param names [Array<Symbol, String>] instead of those before
      def ignored_columns=(names)
        @ignored_columns = names.map(&:to_sym)
        extend(Rows)
        include(Row)

        forget_table
      end

      # What a model reads.
      # @private
      module Rows
        def call(values)
          ignored_columns.each { |name| values.delete(name) }
          super
        end
      end

      # What an object gets back when it is written or loaded again.
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
