# frozen_string_literal: true

require "pelton/sql_text"

module Pelton
  module Record
    class Relation
      # Converts ActiveRecord's conditions to Sequel's expressions.
      module Condition
        NOTHING = ::Sequel.expr(1 => 0)
        NO_VALUE = "no column or association of that name is compared with a value of the class %s"
        private_constant :NO_VALUE

        # A subquery without parentheses, for text that has them.
        class Subquery < ::Sequel::SQL::Expression
          # @param dataset [Sequel::Dataset]
          def initialize(dataset)
            @dataset = dataset
            freeze
          end

          # @private
          def to_s_append(query, sql) = query.send(:subselect_sql_append, sql, @dataset)
        end

        # A list without parentheses, for text that has them.
        class List < ::Sequel::SQL::Expression
          # @param values [Array]
          def initialize(values)
            @values = values
            freeze
          end

          # @private
          def to_s_append(query, sql) = sql << (@values.empty? ? "NULL" : @values.map { |one| query.literal_append(+"", one) }.join(", "))
        end

        # A number or boolean in text. MySQL converts text that is compared with a number: `token = 0` is true for most tokens.
        class Scalar < ::Sequel::SQL::Expression
          # @param value [Integer, Float, BigDecimal, true, false]
          def initialize(value)
            @value = value
            freeze
          end

          # @private
          def to_s_append(query, sql) = query.literal_append(sql, (query.db.database_type == :mysql) ? text : @value)

          private

          def text
            case @value
            when true then "1"
            when false then "0"
            when BigDecimal then @value.to_s("F")
            else @value.to_s
            end
          end
        end

        # For a dataset: literals become question marks.
        module NoValues
          def literal_append(sql, value)
            case value
            when List then sql << "?"
            when nil, true, false, Symbol, ::Sequel::LiteralString, ::Sequel::SQL::Expression, ::Sequel::Dataset then super
            when Array, Set then super(sql, value.first(1).to_a)
            else sql << "?"
            end
          end

          private

          def subselect_sql_dataset(sql, query) = super.with_extend(NoValues)
        end
        private_constant :Subquery, :List, :Scalar, :NoValues

        class << self
          # @param relation [Relation]
          # @param condition [Hash, String, Array, Sequel::SQL::Expression]
          # @param values [Array] for a String's placeholders
          # @return [Sequel::SQL::Expression]
          # @raise [ArgumentError]
          def of(relation, condition, *values)
            case condition
            when Hash then of_hash(relation.model, relation.dataset, condition)
            when ::Sequel::LiteralString, ::Sequel::SQL::Expression then condition
            when String then of_text(condition, values)
            when Array then of(relation, *condition)
            when Symbol then condition
            else raise ArgumentError, "where takes a Hash, a String with its values, or an expression of Sequel, not a #{condition.class}"
            end
          end

          # @param conditions [Hash]
          # @return [Array<String>] other tables that they name
          def tables_of(conditions)
            conditions.filter_map do |name, value|
              next if name.is_a?(::Sequel::SQL::Expression)
              value.is_a?(Hash) ? name.to_s : name.to_s[/\A(\w+)\./, 1]
            end
          end

          # @param text [String] SQL
          # @param values [Array] for its placeholders
          # @param parentheses [Boolean] whether it is a condition
          # @return [Sequel::SQL::Expression]
          # @raise [ArgumentError] if the number of values is wrong
          # @raise [BadValue] if a value has no literal
          def of_text(text, values, parentheses: true)
            text = Sequel::Text.utf8(text)
            return ::Sequel.lit(text) if values.empty?
            if values.size == 1 && values.first.is_a?(Hash) && text.match?(/(?<!:):\w/)
              names = values.first.transform_keys(&:to_sym)
              missing = text.scan(/(?<![:\w]):([a-zA-Z]\w*)/).flatten.uniq.reject { |name| names.key?(name.to_sym) }
              raise ArgumentError, "no value for :#{missing.first} in #{text.inspect}" if missing.any?
              return ::Sequel::SQL::PlaceholderLiteralString.new(text, names.transform_values { |value| bind(value) }, parentheses)
            end
            unless text.count("?") == values.size
              raise ArgumentError, "#{values.size} values for the #{text.count("?")} placeholders in #{text.inspect}"
            end
            ::Sequel::SQL::PlaceholderLiteralString.new(text, values.map { |value| bind(value) }, parentheses)
          end

          # @return [Array<Sequel::SQL::Expression>] the parts combined by AND
          def parts_of(condition)
            return [] if condition.nil?
            (condition.is_a?(::Sequel::SQL::BooleanExpression) && condition.op == :AND) ? condition.args.flat_map { |part| parts_of(part) } : [condition]
          end

          # @return [Sequel::SQL::Expression, nil] the compared column
          def column_of(expression)
            return unless expression.is_a?(::Sequel::SQL::BooleanExpression)
            first = expression.args.first
            return first if first.is_a?(::Sequel::SQL::QualifiedIdentifier) || first.is_a?(::Sequel::SQL::Identifier)
            columns = (expression.op == :OR) ? expression.args.map { |part| column_of(part) }.uniq : []
            columns.first if columns.size == 1
          end

          # @return [Sequel::SQL::Expression] whether there is an associated object
          def related(model, name)
            reflection = model.association_reflection(name) || raise(ArgumentError, "#{model} has no association #{name.inspect}")
            return ::Sequel.~(reflection[:key] => nil) if reflection[:polymorphic]
            ::Sequel.expr(name => reflection.limit.table)
          end

          # @return [Sequel::SQL::QualifiedIdentifier]
          def qualified(dataset, column) = ::Sequel::SQL::QualifiedIdentifier.new(dataset.first_source_alias, column)

          # @param expressions [Array<Sequel::SQL::Expression>]
          # @return [Sequel::SQL::Expression]
          def all_of(expressions) = (expressions.size == 1) ? expressions.first : ::Sequel.&(*expressions)

          # @param dataset [Sequel::Dataset]
          # @param condition [Sequel::SQL::Expression, nil] nil for the whole dataset
          # @return [String] SQL with question marks for values, for messages
          def without_values(dataset, condition = nil)
            dataset = dataset.no_auto_parameterize if dataset.respond_to?(:no_auto_parameterize)
            sql = condition.nil? ? dataset.with_extend(NoValues).sql : dataset.unfiltered.clone(append_sql: nil).with_extend(NoValues).literal(condition)
            SQLText.without_values(sql, dataset.db.database_type) # the program's own text may contain values, too
          end

          private

          def of_hash(model, dataset, conditions)
            all_of(conditions.map { |name, value| of_pair(model, dataset, name, value) })
          end

          def of_pair(model, dataset, name, value)
            return compare(model, name, qualified(dataset, name), value) if name.is_a?(Symbol) && model.db_schema.key?(name)
            return ::Sequel.expr(name => plain(value)) if name.is_a?(::Sequel::SQL::Expression)
            table, column = name.to_s.split(".", 2).map(&:to_sym)
            return of_other_table(model, table, {column => value}) if column
            name = model.column_alias(table)
            reflection = model.association_reflection(name)
            return of_association(model, dataset, reflection, value) if reflection
            return of_other_table(model, name, value) if value.is_a?(Hash) && !model.db_schema.key?(name)
            compare(model, name, qualified(dataset, name), value)
          end

          # {posts: {title: "x"}} names a table or an association.
          def of_other_table(model, table, conditions)
            reflection = model.association_reflections.each_value.find { |one| !one[:polymorphic] && one.associated_class.table_name == table }
            other = reflection&.associated_class
            other = model if table == model.table_name
            all_of(conditions.map do |name, value|
              identifier = ::Sequel::SQL::QualifiedIdentifier.new(table, name.to_sym)
              other ? compare(other, name.to_sym, identifier, value) : ::Sequel.expr(identifier => plain(value))
            end)
          end

          # {author: user}, {author: [users]}, {author: relation}, {author: {name: "Ann"}}
          def of_association(model, dataset, reflection, value)
            return of_other_table(model, Joins.alias_of(dataset, reflection), value) if value.is_a?(Hash)
            return polymorphic(dataset, reflection, value) if reflection[:polymorphic]
            value = value.dataset if value.is_a?(Relation)
            return ::Sequel.expr(reflection[:name] => value) if records?(value)
            return compare(model, reflection[:key], qualified(dataset, reflection[:key]), value) if reflection[:type] == :many_to_one
            raise ArgumentError, "#{model}.#{reflection[:name]} is compared with objects, a relation or a Hash, not with a #{value.class}" unless value.nil?
            ~related(model, reflection[:name])
          end

          def records?(value)
            value.is_a?(::Sequel::Model) || value.is_a?(::Sequel::Dataset) || (value.is_a?(Array) && value.any? && value.all?(::Sequel::Model))
          end

          def polymorphic(dataset, reflection, value)
            key, type = reflection[:key], reflection[:polymorphic]
            return ::Sequel.expr(qualified(dataset, key) => nil) if value.nil?
            ::Sequel.|(*Array(value).group_by { |one| one.class.polymorphic_name }.map do |name, records|
              ::Sequel.expr(qualified(dataset, type) => name, qualified(dataset, key) => records.map(&:pk))
            end)
          end

          def compare(model, name, identifier, value)
            case value
            when Integer, String # the usual ones, without a detour
              value = model.comparable(name, value)
              (value.is_a?(Integer) || value.is_a?(String)) ? ::Sequel::SQL::BooleanExpression.new(:"=", identifier, value) : ::Sequel.expr(identifier => value)
            when Relation then ::Sequel.expr(identifier => value.for_subquery)
            when ::Sequel::Model then ::Sequel.expr(identifier => value.pk)
            when ::Sequel::Dataset, ::Sequel::SQL::Expression, nil then ::Sequel.expr(identifier => value)
            when Range then ::Sequel.expr(identifier => Range.new(bound(model, name, value.begin, -1), bound(model, name, value.end, 1), value.exclude_end?))
            when Set then compare(model, name, identifier, value.to_a)
            when Array then model.typed?(name) ? ::Sequel.expr(identifier => model.comparable(name, value)) : compare_list(model, name, identifier, value)
            else ::Sequel.expr(identifier => model.comparable(name, value))
            end
          rescue ::Sequel::InvalidValue # no row has such a value
            NOTHING
          end

          # A range that ends after all values (`side`: 1), or begins before them (-1), has no bound there.
          def bound(model, name, value, side)
            return if value.nil? || (value.is_a?(Float) && value.infinite? == side)
            model.ordered(name, value)
          rescue Attributes::OutOfRange
            ((value.to_i <=> 0) == side) ? nil : raise
          end

          def compare_list(model, name, identifier, values)
            return ::Sequel.expr(identifier => values) if !values.empty? && model.integers?(name) && values.all? { |one| one.is_a?(Integer) && one.bit_length < 64 }
            ranges, values = values.partition { |one| one.is_a?(Range) }
            nils, values = values.partition(&:nil?)
            values = values.filter_map do |one|
              one.is_a?(::Sequel::Model) ? one.pk : model.comparable(name, one)
            rescue ::Sequel::InvalidValue
              nil
            end
            parts = ranges.map { |range| compare(model, name, identifier, range) }
            parts << ::Sequel.expr(identifier => nil) unless nils.empty?
            parts << ::Sequel.expr(identifier => values) if values.any? || parts.empty?
            (parts.size == 1) ? parts.first : ::Sequel.|(*parts)
          end

          # A value for an unknown column.
          def plain(value)
            case value
            when Symbol then value.to_s
            when Array, Set then value.map { |one| (one.is_a?(Array) || one.is_a?(Set)) ? raise(BadValue, NO_VALUE % one.class) : plain(one) }
            when Relation then value.for_subquery
            when Hash then raise BadValue, NO_VALUE % value.class
            else value
            end
          end

          # The text has the parentheses of a list: "id IN (?)".
          def bind(value)
            case value
            when Array, Set then List.new(value.map { |one| bind_one(one) })
            when Relation then Subquery.new(value.for_subquery)
            when ::Sequel::Dataset then Subquery.new(value)
            else bind_one(value)
            end
          end

          # Sequel would read a Hash, or a list of pairs, which may come from outside, as a condition: `token = ('a' = 'b')`.
          def bind_one(value)
            case value
            when true, false, Integer, Float, BigDecimal then Scalar.new(value)
            when nil, String, Time, Date, ::Sequel::SQL::Expression then value
            when Symbol then value.to_s
            when ::Sequel::Model then value.pk
            else
              return value if value.respond_to?(:sql_literal_append)
              raise BadValue, "a placeholder stands for a text, a number, a time, true, false, nil or an Array of these, not for a #{value.class}"
            end
          end
        end
      end
    end
  end
end
