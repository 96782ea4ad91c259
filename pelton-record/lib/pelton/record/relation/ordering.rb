# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # order, limit, offset.
      module Ordering
        TERM = /\A\s*(?:(?<table>\w+)\.)?(?<column>\w+)(?:\s+(?<direction>asc|desc))?(?:\s+nulls\s+(?<nulls>first|last))?\s*\z/i
        private_constant :TERM

        # Adds to the order.
        #
        # @example order(:name, created_at: :desc), order("name DESC, id"), order(Sequel.lit("LENGTH(name)")), order(Sequel.desc(:id))
        # @param terms [Array<Symbol, Hash, String, Sequel::SQL::Expression>]
        # @return [Relation]
        # @raise [ArgumentError] if a String contains more than columns with ASC or DESC, because it could come from outside. Wrap SQL in
        #   Sequel.lit
        def order(*terms)
          raise ArgumentError, "order takes columns: order(:name)" if terms.empty?
          derived(dataset.order_append(*terms.flatten.flat_map { |term| order_of(term) }))
        end

        # Replaces the order.
        #
        # @return [Relation]
        def reorder(*terms) = terms.compact.empty? ? derived(dataset.unordered) : derived(dataset.unordered).order(*terms)

        # @return [Relation] in the opposite order; without one, by descending primary key
        def reverse_order = derived(dataset.opts[:order] ? dataset.reverse : by_key.reverse)
        alias_method :reverse, :reverse_order

        # @param count [Integer, String, nil] number of rows; nil for all
        # @return [Relation]
        # @raise [ArgumentError] if it is no number
        def limit(count)
          count = number(count) unless count.nil?
          return derived(dataset.clone(limit: count)) if count.nil? || count.zero?
          kept = KEPT[count] or return derived(dataset.limit(count))
          derived(dataset.send(:cached_dataset, kept) { dataset.limit(count) })
        end

        # @param count [Integer, String] number of rows to skip
        # @return [Relation]
        # @raise [ArgumentError] if it is no number
        def offset(count) = derived(dataset.offset(number(count)))

        # Names by which a dataset caches itself with a limit, and its SQL, for pages.
        KEPT = Array.new(101) { |count| :"_limit_#{count}_ds" }.freeze
        private_constant :KEPT

        private

        def number(value)
          number = value.is_a?(String) ? (Integer(value, 10, exception: false) if value.encoding.ascii_compatible?) : value
          return number if number.is_a?(Integer) && !number.negative? && number.bit_length < 64
          raise ArgumentError, "a number of rows is an Integer of 64 bits, and not negative, not this #{value.class}"
        end

        def order_of(term)
          case term
          when Hash
            term.flat_map do |name, direction|
              next directed(column(name), direction) unless direction.is_a?(Hash)
              direction.map { |own, way| directed(::Sequel::SQL::QualifiedIdentifier.new(name.to_sym, own.to_sym), way) }
            end
          when Symbol then [column(term)]
          when ::Sequel::LiteralString, ::Sequel::SQL::Expression then [term]
          when String then Sequel::Text.utf8(term).split(",").map { |part| order_of_text(part) }
          when nil then []
          else raise ArgumentError, "order takes columns, a Hash of them, or expressions of Sequel, not a #{term.class}"
          end
        end

        def order_of_text(text)
          match = TERM.match(text) || raise(ArgumentError, "#{text.inspect[0, 100]} is no column to order by: wrap SQL that the program has written in Sequel.lit")
          name = match[:table] ? ::Sequel::SQL::QualifiedIdentifier.new(match[:table].to_sym, match[:column].to_sym) : column(match[:column])
          directed(name, match[:direction] || "asc", nulls: match[:nulls]&.downcase&.to_sym)
        end

        def directed(name, direction, nulls: nil)
          options = nulls ? {nulls: nulls} : ::Sequel::OPTS
          case direction.to_s.downcase
          when "asc" then nulls ? ::Sequel.asc(name, options) : name
          when "desc" then ::Sequel.desc(name, options)
          else raise ArgumentError, "the direction is :asc or :desc, not this #{direction.class}"
          end
        end

        # The model's own columns are qualified by its table; other names are those of the selection.
        def column(name)
          return name if name.is_a?(::Sequel::SQL::Expression)
          table, own = name.to_s.split(".", 2)
          return ::Sequel::SQL::QualifiedIdentifier.new(table.to_sym, own.to_sym) if own
          name = model.column_alias(name.to_sym)
          model.db_schema.key?(name) ? Condition.qualified(dataset, name) : ::Sequel.identifier(name)
        end

        def by_key = model.primary_key ? dataset.order(*Array(model.primary_key).map { |key| Condition.qualified(dataset, key) }) : dataset
      end
    end
  end
end
