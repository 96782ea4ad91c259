# frozen_string_literal: true

require "json"
require "zlib"
require_relative "cursor_value"

module Pelton
  module Sequel
    class Page
      # The order of a list whose pages begin after a record: its columns, and the condition for later rows.
      #
      # The condition names the first column by itself (`a >= 5 AND (a > 5 OR (a = 5 AND id > 7))`), so that the
      # database finds the start by an index. If all columns have one direction and no NULL follows, it is
      # `(a, id) > (5, 7)`, except on MariaDB, which would read the whole index.
      # @private
      class Keyset
        # A column of the order.
        Term = Struct.new(:name, :column, :descending, :nulls, :nullable, :type) do
          # The condition for later values; nil if there are none.
          def beyond(value)
            return (nulls == :first) ? compare(:"!=", nil) : nil if value.nil?
            later = compare(descending ? :< : :>, value)
            (nullable && nulls == :last) ? later | compare(:"=", nil) : later
          end

          def same(value) = compare(:"=", value)

          # The condition for the same and later values; nil for all.
          def from(value)
            return if value.nil?
            from = compare(descending ? :<= : :>=, value)
            (nullable && nulls == :last) ? from | compare(:"=", nil) : from
          end

          def inverted = self.class.new(name, column, !descending, (nulls == :first) ? :last : :first, nullable, type)

          def present = dup.tap { |one| one.nullable = false }

          def ordered(explicit)
            ::Sequel::SQL::OrderedExpression.new(column, descending, explicit ? {nulls: nulls} : {})
          end

          def to_s = "#{name} #{descending ? "desc" : "asc"} #{nulls}"

          private

          def compare(operator, value)
            return ::Sequel::SQL::BooleanExpression.new((operator == :"=") ? :IS : :"IS NOT", column, nil) if value.nil?
            ::Sequel::SQL::BooleanExpression.new(operator, column, type.operand(value))
          end
        end
        private_constant :Term

        # @param dataset [Sequel::Dataset] of a model, or of a table
        # @raise [ArgumentError] if the order contains anything but the table's own columns, or the rows have no key
        def initialize(dataset)
          @rows = dataset
          @database = dataset.db
          refuse_what_has_no_position
          @columns = columns_of_table
          @terms = terms
          # The database's default order of NULL is written explicitly, to match an index.
          @explicit = @rows.opts[:order].to_a.any? { |one| one.is_a?(::Sequel::SQL::OrderedExpression) && one.nulls }
        end

        # The rows after a position, or those before it in reverse order. If NULL comes last, its rows are separate: no
        # index supports `a >= 5 OR a IS NULL`.
        #
        # @return [Array<Sequel::Dataset>] each is read if the previous ones have too few rows
        def rows(values, backwards)
          terms = backwards ? @terms.map(&:inverted) : @terms
          rows = with_texts(@rows.order(*terms.map { |term| term.ordered(@explicit) }))
          return [rows] unless values
          first = terms.first
          return [rows.where(condition(terms, values))] unless first.nullable && first.nulls == :last && values.first
          [condition([first.present, *terms.drop(1)], values), first.same(nil)].map do |condition|
            rows.where(condition)
          end
        end

        # Removes the columns that {#rows} added to a record.
        #
        # @param record [Sequel::Model, Hash]
        # @return [Hash{Symbol => String}]
        def strip(record)
          @terms.select { |term| term.type.raw? }.to_h { |term| [term.name, row_of(record).delete(alias_of(term))] }
        end

        # @param record [Sequel::Model, Hash]
        # @param raw [Hash{Symbol => String}] as {#strip} returned it
        # @return [String] a record's position, as text for a URL
        # @raise [ArgumentError] if the record was read without a column of the order
        def cursor(record, raw)
          values = @terms.map { |term| term.type.raw? ? raw[term.name] : term.type.dump(value_of(record, term.name)) }
          [JSON.generate([digest, *values])].pack("m0").tr("+/", "-_").delete("=")
        end

        # @return [Array] the values of a position
        # @raise [InvalidCursor]
        def values(cursor)
          raise InvalidCursor unless cursor.is_a?(String) && cursor.bytesize < 10_000
          given, *values = JSON.parse(cursor.tr("-_", "+/").ljust((cursor.bytesize + 3) / 4 * 4,
            "=").unpack1("m0").force_encoding(Encoding::UTF_8))
          raise InvalidCursor unless given == digest && values.size == @terms.size
          @terms.zip(values).map do |term, value|
            (value.nil? && !term.nullable) ? raise(InvalidCursor) : term.type.load(value)
          end
        rescue ArgumentError, NoMethodError, JSON::ParserError, EncodingError # no Base64, or JSON that is no list
          raise InvalidCursor
        end

        private

        def row_of(record) = record.is_a?(Hash) ? record : record.values

        def value_of(record, name)
          row_of(record).fetch(name) do
            raise ArgumentError, "the rows are ordered by #{name}, which the next page needs: select it, too"
          end
        end

        def with_texts(rows)
          raw = @terms.select { |term| term.type.raw? }
          return rows if raw.empty?
          rows = rows.select_all(rows.first_source_alias) unless rows.opts[:select]
          rows.select_append(*raw.map { |term| ::Sequel.cast(term.column, String).as(alias_of(term)) })
        end

        # Makes positions of other orders invalid.
        def digest = Zlib.crc32("#{table}: #{@terms.join(", ")}")

        def alias_of(term) = :"__keyset_#{term.name}"

        # @return [String] the table's name
        def table = @rows.literal(@rows.first_source_table)

        def model = (@rows.model if @rows.respond_to?(:model))

        def refuse_what_has_no_position
          if @rows.opts[:limit] || @rows.opts[:offset]
            raise ArgumentError,
              "the dataset has a limit or an offset, which the page would replace: take them away, or use from_self"
          end
          if @rows.opts[:sql] || %i[group compounds eager_graph].any? { |name| @rows.opts[name] }
            raise ArgumentError,
              "groups, unions, eager_graph and SQL text have no keyset pages: use limit and offset, or eager"
          end
        end

        # @return [Hash{Symbol => Hash}] the schema by column
        def columns_of_table
          from = @rows.first_source_table
          if from.is_a?(::Sequel::Dataset) || from.is_a?(::Sequel::LiteralString)
            raise ArgumentError, "keyset pages are of a table's rows, not of another query's"
          end
          model ? model.db_schema : @database.schema(from).to_h
        end

        def keys
          keys = model ? Array(model.primary_key) : @columns.select { |_, column| column[:primary_key] }.keys
          raise ArgumentError, "#{table} has no primary key, which must decide between equal rows" if keys.empty?
          keys
        end

        def terms
          given = @rows.opts[:order].to_a.map { |one| term(one) }
          deciding = keys.map { |name| build(name, given.last&.descending || false, nil) }
          (given + deciding).uniq(&:name)
        end

        def term(ordered)
          return build(column(ordered), false, nil) unless ordered.is_a?(::Sequel::SQL::OrderedExpression)
          build(column(ordered.expression), ordered.descending, ordered.nulls)
        end

        def build(name, descending, nulls)
          schema = @columns.fetch(name)
          nulls ||= ((@database.database_type == :postgres) ^ descending) ? :last : :first
          Term.new(name, ::Sequel::SQL::QualifiedIdentifier.new(@rows.first_source_alias, name), descending, nulls,
            schema[:allow_null] != false,
            CursorValue.new(@database.database_type, name, schema))
        end

        def column(expression)
          name = expression
          if expression.is_a?(::Sequel::SQL::QualifiedIdentifier)
            if [@rows.first_source_alias, @rows.first_source_table].map(&:to_s).include?(expression.table.to_s)
              name = expression.column
            end
          end
          name = name.value if name.is_a?(::Sequel::SQL::Identifier)
          name = name.to_sym if name.is_a?(String) && !name.is_a?(::Sequel::LiteralString)
          return name if name.is_a?(Symbol) && @columns.key?(name)
          raise ArgumentError, "keyset pages are ordered by columns of #{table}, not by " \
            "#{@rows.literal(expression)}: keep the value in a column, or use limit and offset"
        end

        def condition(terms, values)
          return together(terms, values) if comparable?(terms, values)
          first = terms.first.from(values.first) if terms.size > 1
          [first, behind(terms, values)].compact.reduce { |one, other| ::Sequel.&(one, other) }
        end

        def comparable?(terms, values)
          @database.database_type != :mysql && terms.map(&:descending).uniq.size == 1 &&
            terms.zip(values).none? { |term, value| value.nil? || (term.nullable && term.nulls == :last) }
        end

        def together(terms, values)
          operands = terms.zip(values).map { |term, value| term.type.operand(value) }
          ::Sequel::SQL::PlaceholderLiteralString.new("(? #{terms.first.descending ? "<" : ">"} ?)",
            [::Sequel::SQL::ValueList.new(terms.map(&:column)), ::Sequel::SQL::ValueList.new(operands)])
        end

        def behind(terms, values)
          term, *terms = terms
          value, *values = values
          beyond = term.beyond(value)
          return beyond || ::Sequel.lit("(1 = 0)") if terms.empty?
          tie = ::Sequel.&(term.same(value), behind(terms, values))
          beyond ? ::Sequel.|(beyond, tie) : tie
        end
      end
    end
  end
end
