# frozen_string_literal: true

module Pelton
  module Sequel
    module SQLite
      # Sequel's dataset for {Database}.
      class Dataset < ::Sequel::Dataset
        include ::Sequel::SQLite::DatasetMethods

        # Names bound values as Sequel's own SQLite adapter does.
        module ArgumentMapper
          include ::Sequel::Dataset::ArgumentMapper

          protected

          def map_to_prepared_args(hash) = [hash.transform_keys { |name| name.to_s.gsub(".", "__") }]

          private

          def prepared_arg(name)
            ::Sequel::LiteralString.new("#{prepared_arg_placeholder}#{name.to_s.gsub(".", "__")}".freeze)
          end
        end

        BindArgumentMethods = prepared_statements_module(:bind, ArgumentMapper)
        PreparedStatementMethods = prepared_statements_module(:prepare, BindArgumentMethods)

        def fetch_rows(sql)
          execute(sql, ((sql.bytesize > Connection::LONG) && like) || ::Sequel::OPTS) do |cursor|
            names = self.columns = cursor.columns.map { |name| output_identifier(name) }
            next cursor.each { |row| yield row } if names == cursor.columns
            renamed = cursor.columns.zip(names).to_h
            cursor.each { |row| yield row.transform_keys(renamed) }
          end
          self
        end

        private

        # The part of the statement that decides the columns' types, without conditions.
        def like
          return if @opts[:sql]
          {like: unfiltered.unordered.unlimited.clone(having: nil).sql}
        end

        def literal_string_append(sql, value)
          value = Text.utf8(value)
          return super if value.valid_encoding? && !value.include?("\0")
          sql << "CAST(x'" << value.unpack1("H*") << "' AS TEXT)" # SQLite reads a statement only up to its first NUL
        end

        def bound_variable_modules = [BindArgumentMethods]

        def prepared_statement_modules = [PreparedStatementMethods]

        def prepared_arg_placeholder = ":"
      end
    end
  end
end
