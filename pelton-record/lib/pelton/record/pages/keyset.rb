# frozen_string_literal: true

require "json"
require "zlib"
require_relative "cursor_value"

module Pelton
  module Record
    class Page
      # The order of a list whose pages begin after a record: its columns, and the condition for later rows.
      #
      # The condition names the first column by itself (`a >= 5 AND (a > 5 OR (a = 5 AND id > 7))`), so that the database finds the start by an
      # index. If all columns have one direction and no NULL follows, it is `(a, id) > (5, 7)`, except on MariaDB, which would read the whole
      # index.
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

          def ordered(explicit) = ::Sequel::SQL::OrderedExpression.new(column, descending, explicit ? {nulls: nulls} : {})

          def to_s = "#{name} #{descending ? "desc" : "asc"} #{nulls}"

          private

          def compare(operator, value)
            return ::Sequel::SQL::BooleanExpression.new((operator == :"=") ? :IS : :"IS NOT", column, nil) if value.nil?
            ::Sequel::SQL::BooleanExpression.new(operator, column, type.operand(value))
          end
        end
        private_constant :Term

        # @param relation [Relation]
        # @raise [ArgumentError] if the order contains anything but the model's own columns
        def initialize(relation)
          @model = relation.model
          @rows = relation.dataset
          refuse_sets
          @terms = terms
          # The database's default order of NULL is written explicitly, to match an index.
          @explicit = @rows.opts[:order].to_a.any? { |one| one.is_a?(::Sequel::SQL::OrderedExpression) && one.nulls }
        end

        # The rows after a position, or those before it in reverse order. If NULL comes last, its rows are separate: no index supports `a >= 5
        # OR a IS NULL`.
        #
        # @return [Array<Sequel::Dataset>] each is read if the previous ones have too few rows
        def rows(values, backwards)
          terms = backwards ? @terms.map(&:inverted) : @terms
          rows = with_texts(@rows.order(*terms.map { |term| term.ordered(@explicit) }))
          return [rows] unless values
          first = terms.first
          return [rows.where(condition(terms, values))] unless first.nullable && first.nulls == :last && values.first
          [condition([first.present, *terms.drop(1)], values), first.same(nil)].map { |condition| rows.where(condition) }
        end

        # Removes the columns that {#rows} added to a record.
        #
        # @return [Hash{Symbol => String}]
        def strip(record)
          @terms.select { |term| term.type.raw? }.to_h { |term| [term.name, record.values.delete(alias_of(term))] }
        end

        # @return [String] a record's position, as text for a URL
        def cursor(record, raw)
          values = @terms.map { |term| term.type.raw? ? raw[term.name] : term.type.dump(@model.to_database(term.name, record[term.name])) }
          [JSON.generate([digest, *values])].pack("m0").tr("+/", "-_").delete("=")
        end

        # @return [Array] the values of a position
        # @raise [InvalidCursor]
        def values(cursor)
          raise InvalidCursor unless cursor.is_a?(String) && cursor.bytesize < 10_000
          given, *values = JSON.parse(cursor.tr("-_", "+/").ljust((cursor.bytesize + 3) / 4 * 4, "=").unpack1("m0").force_encoding(Encoding::UTF_8))
          raise InvalidCursor unless given == digest && values.size == @terms.size
          @terms.zip(values).map { |term, value| (value.nil? && !term.nullable) ? raise(InvalidCursor) : term.type.load(value) }
        rescue ArgumentError, NoMethodError, JSON::ParserError, EncodingError # no Base64, or JSON that is no list
          raise InvalidCursor
        end

        private

        def with_texts(rows)
          raw = @terms.select { |term| term.type.raw? }
          return rows if raw.empty?
          rows = rows.select_all(rows.first_source_alias) unless rows.opts[:select]
          rows.select_append(*raw.map { |term| ::Sequel.cast(term.column, String).as(alias_of(term)) })
        end

        # Makes positions of other orders invalid.
        def digest = Zlib.crc32("#{@model.table_name}: #{@terms.join(", ")}")

        def alias_of(term) = :"__keyset_#{term.name}"

        def refuse_sets
          raise ArgumentError, "#{@model} has no primary key, which must decide between equal rows" unless @model.primary_key
          raise ArgumentError, "groups, unions and eager_load have no keyset pages: use page, or includes" if %i[group compounds eager_graph].any? { |name| @rows.opts[name] }
        end

        def terms
          given = @rows.opts[:order].to_a.map { |one| term(one) }
          keys = Array(@model.primary_key).map { |name| build(name, given.last&.descending || false, nil) }
          (given + keys).uniq(&:name)
        end

        def term(ordered)
          return build(column(ordered), false, nil) unless ordered.is_a?(::Sequel::SQL::OrderedExpression)
          build(column(ordered.expression), ordered.descending, ordered.nulls)
        end

        def build(name, descending, nulls)
          schema = @model.db_schema[name]
          nulls ||= ((@model.db.database_type == :postgres) ^ descending) ? :last : :first
          Term.new(name, Relation::Condition.qualified(@rows, name), descending, nulls, schema[:allow_null] != false, CursorValue.new(@model, name, schema))
        end

        def column(expression)
          name = expression
          if expression.is_a?(::Sequel::SQL::QualifiedIdentifier)
            name = expression.column if [@rows.first_source_alias, @model.table_name].map(&:to_s).include?(expression.table.to_s)
          end
          name = name.value if name.is_a?(::Sequel::SQL::Identifier)
          name = name.to_sym if name.is_a?(String) && !name.is_a?(::Sequel::LiteralString)
          return name if name.is_a?(Symbol) && @model.db_schema.key?(name)
          raise ArgumentError, "keyset pages are ordered by columns of #{@model.table_name}, not by #{@rows.literal(expression)}: use page, or keep the value in a column"
        end

        def condition(terms, values)
          return together(terms, values) if comparable?(terms, values)
          first = terms.first.from(values.first) if terms.size > 1
          [first, behind(terms, values)].compact.reduce { |one, other| ::Sequel.&(one, other) }
        end

        def comparable?(terms, values)
          @model.db.database_type != :mysql && terms.map(&:descending).uniq.size == 1 &&
            terms.zip(values).none? { |term, value| value.nil? || (term.nullable && term.nulls == :last) }
        end

        def together(terms, values)
          operands = terms.zip(values).map { |term, value| term.type.operand(value) }
          ::Sequel::SQL::PlaceholderLiteralString.new("(? #{terms.first.descending ? "<" : ">"} ?)", [::Sequel::SQL::ValueList.new(terms.map(&:column)), ::Sequel::SQL::ValueList.new(operands)])
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
