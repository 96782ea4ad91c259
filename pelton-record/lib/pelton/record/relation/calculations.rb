# frozen_string_literal: true

require "bigdecimal"

module Pelton
  module Record
    class Relation
      # Calculations by the database. After {Selection#group} each returns a Hash: the groups' values (an Array if there are several) and
      # results.
      module Calculations
        # Counts rows, rows with a value in the column, or records for which the block is true.
        #
        # @param name [Symbol, nil] :all for rows
        # @return [Integer, Hash]
        # @asynchronous
        def count(name = nil, &block)
          return records.count(*name, &block) if block
          name = nil if name == :all || name == "*"
          counted = name && selected([name]).first
          counted ||= counted_once if dataset.opts[:distinct] || dataset.opts[:eager_graph]
          function = counted ? ::Sequel::SQL::Function.new(:count, counted) : ::Sequel::SQL::Function.new(:count).*
          function = function.distinct if counted && (dataset.opts[:distinct] || dataset.opts[:eager_graph])
          return computed(function, :count, name) { |value| value.to_i } if dataset.opts[:group] || counted
          graph_free(dataset).unordered.count.to_i
        end

        # @param name [Symbol, String, Sequel::SQL::Expression, nil]
        # @return [Numeric, Hash] 0 without rows. With a block, the sum of its values
        # @asynchronous
        def sum(name = nil, &block)
          return records.sum(*name, &block) if block || name.nil? || name.is_a?(Numeric)
          computed(::Sequel::SQL::Function.new(:sum, selected([name]).first), :sum, name) { |value| value || 0 }
        end

        # @param name [Symbol, String, Sequel::SQL::Expression]
        # @return [BigDecimal, Float, nil, Hash] nil without rows
        # @asynchronous
        def average(name)
          float = name.respond_to?(:to_sym) && model.db_schema.dig(name.to_sym, :type) == :float
          computed(::Sequel::SQL::Function.new(:avg, selected([name]).first), :average, name, as_is: true) { |value| (value.nil? || float) ? value : BigDecimal(value.to_s) }
        end

        # @param name [Symbol, String, Sequel::SQL::Expression]
        # @return [Object, nil, Hash] nil without rows
        # @asynchronous
        def minimum(name) = computed(::Sequel::SQL::Function.new(:min, selected([name]).first), :minimum, name)

        # @param name [Symbol, String, Sequel::SQL::Expression]
        # @return [Object, nil, Hash] nil without rows
        # @asynchronous
        def maximum(name) = computed(::Sequel::SQL::Function.new(:max, selected([name]).first), :maximum, name)

        # Returns columns' values instead of objects.
        #
        # @example pluck(:name) # => ["Ann", "Bob"], pluck(:id, :name) # => [[1, "Ann"], [2, "Bob"]]
        # @param names [Array<Symbol, String, Sequel::SQL::Expression>]
        # @return [Array]
        # @raise [ArgumentError] if a String is no column: wrap SQL in Sequel.lit
        # @asynchronous
        def pluck(*names)
          columns = names.flatten.map { |name| plucked(name) }
          columns = model.columns.map { |name| Condition.qualified(dataset, name) } if columns.empty?
          aliases = columns.each_index.map { |index| :"c#{index}" }
          rows = graph_free(dataset).select(*columns.zip(aliases).map { |one, name| ::Sequel.as(one, name) }).all
          types = names.map { |name| name if name.is_a?(Symbol) && model.typed_attribute?(name) }
          return rows.map { |row| restore(types[0], row[:c0]) } if aliases.size == 1
          return rows.map(&:values) if types.none?
          rows.map { |row| aliases.each_with_index.map { |name, index| restore(types[index], row[name]) } }
        end

        # Like {#pluck}, for one row.
        #
        # @return [Object, Array, nil]
        # @asynchronous
        def pick(*names) = limit(1).pluck(*names).first

        # @return [Array] the primary keys
        # @asynchronous
        def ids
          return records.map(&:pk) if loaded?
          return graph_keys(dataset).map { |key| (key.size == 1) ? key.first : key } if limited_graph?(dataset)
          pluck(*model.primary_key).then { |keys| dataset.opts[:eager_graph] ? keys.uniq : keys }
        end

        private

        def plucked(name)
          case name
          when ::Sequel::SQL::Expression, ::Sequel::LiteralString then name
          when Symbol then column(name)
          when String
            name = Sequel::Text.utf8(name)
            return column(name) if name.valid_encoding? && name.match?(/\A\w+(\.\w+)?\z/)
            raise ArgumentError, "#{name.inspect[0, 100]} is no column: wrap SQL that the program has written in Sequel.lit"
          else raise ArgumentError, "pluck takes columns and expressions of Sequel, not a #{name.class}"
          end
        end

        def restore(type, value) = type ? model.restore(type, value) : value

        # The column of `distinct.count`: the only selected one, or the key.
        def counted_once
          chosen = dataset.opts[:select]&.reject { |one| one.is_a?(::Sequel::SQL::ColumnAll) } || []
          return chosen.first if chosen.size == 1 && !dataset.opts[:eager_graph]
          Condition.qualified(dataset, model.primary_key) if model.primary_key.is_a?(Symbol) && (chosen.empty? || dataset.opts[:eager_graph]) && !dataset.opts[:group] && !dataset.opts[:limit]
        end

        # Rows without eager loading.
        def graph_free(rows) = rows.naked.clone(eager: nil, eager_graph: nil)

        # One value, or a Hash of values by group. A limited query is computed over its own rows.
        def computed(function, operation, name, as_is: false)
          found = graph_free(dataset).unordered
          type = model.db_schema.dig(name.to_sym, :type) if !as_is && name.respond_to?(:to_sym)
          cast = lambda do |value|
            value = model.cast(name.to_sym, value) if value && type && (!value.is_a?(Numeric) || (type == :decimal && operation != :count))
            block_given? ? yield(value) : value
          end
          groups = dataset.opts[:group]
          unless groups
            found = found.clone(distinct: nil) unless dataset.opts[:limit]
            found = graph_free(dataset).from_self(alias: model.table_name) if dataset.opts[:limit] || dataset.opts[:offset]
            return cast.call(found.get(function))
          end
          names = groups.each_index.map { |index| :"g#{index}" }
          result = :"#{operation}_#{name.nil? ? :all : name.to_s.gsub(/\W+/, "_")}" # order may name it
          found = graph_free(dataset) if dataset.opts[:limit] || dataset.opts[:order]
          rows = found.select(*groups.zip(names).map { |one, as| ::Sequel.as(one, as) }, ::Sequel.as(function, result)).all
          rows.to_h { |row| [(names.size == 1) ? group_value(groups[0], row[:g0]) : names.zip(groups).map { |key, one| group_value(one, row[key]) }, cast.call(row[result])] }
        end

        def group_value(group, value)
          name = group.is_a?(::Sequel::SQL::QualifiedIdentifier) ? group.column : group
          (name.is_a?(Symbol) && model.typed_attribute?(name)) ? model.restore(name, value) : value
        end
      end
    end
  end
end
