# frozen_string_literal: true

require "bigdecimal"

module Pelton
  module Record
    class Relation
      # What the database computes. After {Selection#group} each gives a Hash: the groups' values (an Array of several) and the results.
      module Calculations
        # The number of rows; of rows with a value in the column; of records for which the block is true.
        #
        # @param name [Symbol, nil] :all: rows
        # @return [Integer, Hash]
        # @asynchronous
        def count(name = nil, &block)
          return records.count(*name, &block) if block
          name = nil if name == :all || name == "*"
          counted = name && selected([name]).first
          counted ||= dataset.opts[:select].first if dataset.opts[:distinct] && dataset.opts[:select]&.size == 1
          function = counted ? Sequel::SQL::Function.new(:count, counted) : Sequel::SQL::Function.new(:count).*
          function = function.distinct if counted && dataset.opts[:distinct]
          return calculate(function) { |value| value.to_i } if dataset.opts[:group] || counted
          dataset.unordered.count.to_i
        end

        # @param name [Symbol, String, Sequel::SQL::Expression, nil]
        # @return [Numeric, Hash] 0 without rows. With a block, the sum of the block's values of the records
        # @asynchronous
        def sum(name = nil, &block)
          return records.sum(*name, &block) if block || name.nil? || name.is_a?(Numeric)
          calculate(Sequel::SQL::Function.new(:sum, selected([name]).first), name) { |value| value || 0 }
        end

        # @param name [Symbol, String, Sequel::SQL::Expression]
        # @return [BigDecimal, Float, nil, Hash] nil without rows
        # @asynchronous
        def average(name)
          float = name.respond_to?(:to_sym) && model.db_schema.dig(name.to_sym, :type) == :float
          calculate(Sequel::SQL::Function.new(:avg, selected([name]).first)) { |value| (value.nil? || float) ? value : BigDecimal(value.to_s) }
        end

        # @param name [Symbol, String, Sequel::SQL::Expression]
        # @return [Object, nil, Hash] nil without rows
        # @asynchronous
        def minimum(name) = calculate(Sequel::SQL::Function.new(:min, selected([name]).first), name)

        # @param name [Symbol, String, Sequel::SQL::Expression]
        # @return [Object, nil, Hash] nil without rows
        # @asynchronous
        def maximum(name) = calculate(Sequel::SQL::Function.new(:max, selected([name]).first), name)

        # Values without objects.
        #
        # @example pluck(:name) # => ["Ann", "Bob"], pluck(:id, :name) # => [[1, "Ann"], [2, "Bob"]]
        # @param names [Array<Symbol, String, Sequel::SQL::Expression>]
        # @return [Array]
        # @raise [ArgumentError] for a String that is no column: wrap SQL in Sequel.lit
        # @asynchronous
        def pluck(*names)
          columns = names.flatten.map { |name| plucked(name) }
          columns = model.columns.map { |name| Condition.qualified(dataset, name) } if columns.empty?
          aliases = columns.each_index.map { |index| :"c#{index}" }
          rows = dataset.naked.clone(eager: nil).select(*columns.zip(aliases).map { |one, name| Sequel.as(one, name) }).all
          types = names.map { |name| name if name.is_a?(Symbol) && model.typed_attribute?(name) }
          return rows.map { |row| restore(types[0], row[:c0]) } if aliases.size == 1
          rows.map { |row| aliases.each_with_index.map { |name, index| restore(types[index], row[name]) } }
        end

        # {#pluck} of one row.
        #
        # @return [Object, Array, nil]
        # @asynchronous
        def pick(*names) = limit(1).pluck(*names).first

        # @return [Array] the primary keys
        # @asynchronous
        def ids = loaded? ? records.map(&:pk) : pluck(*model.primary_key)

        private

        def plucked(name)
          case name
          when Sequel::SQL::Expression, Sequel::LiteralString then name
          when Symbol, /\A\w+(\.\w+)?\z/ then column(name)
          else raise ArgumentError, "#{name.inspect} is no column: wrap SQL that the program has written in Sequel.lit"
          end
        end

        def restore(type, value) = type ? model.restore(type, value) : value

        # One value, or a Hash of them by groups. A limited query is computed over the rows that it gives.
        def calculate(function, name = nil)
          found = dataset.unordered.naked.clone(eager: nil)
          cast = lambda do |value|
            value = model.cast(name.to_sym, value) if value && name.is_a?(Symbol) && model.db_schema.key?(name.to_sym) && !value.is_a?(Numeric)
            block_given? ? yield(value) : value
          end
          groups = dataset.opts[:group]
          unless groups
            found = found.clone(distinct: nil) unless dataset.opts[:limit]
            found = dataset.naked.clone(eager: nil).from_self(alias: model.table_name) if dataset.opts[:limit] || dataset.opts[:offset]
            return cast.call(found.get(function))
          end
          names = groups.each_index.map { |index| :"g#{index}" }
          found = dataset.naked.clone(eager: nil) if dataset.opts[:limit] || dataset.opts[:order]
          rows = found.select(*groups.zip(names).map { |one, as| Sequel.as(one, as) }, Sequel.as(function, :result)).all
          rows.to_h { |row| [(names.size == 1) ? group_value(groups[0], row[:g0]) : names.zip(groups).map { |key, one| group_value(one, row[key]) }, cast.call(row[:result])] }
        end

        def group_value(group, value)
          name = group.is_a?(Sequel::SQL::QualifiedIdentifier) ? group.column : group
          (name.is_a?(Symbol) && model.typed_attribute?(name)) ? model.restore(name, value) : value
        end
      end
    end
  end
end
