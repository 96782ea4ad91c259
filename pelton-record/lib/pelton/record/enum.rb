# frozen_string_literal: true

module Pelton
  module Record
    # Named values of a column: `enum :status, [:draft, :published]`.
    module Enum
      # Words for the program, and what the column has instead.
      class Type < ActiveModel::Type::Value
        # @return [Hash{String => Object}]
        attr_reader :values

        # @param name [Symbol]
        # @param values [Hash{String => Object}]
        def initialize(name, values)
          super()
          @name = name
          @values = values
          @words = values.invert
        end

        # @return [Symbol]
        def type = :enum

        # @return [Boolean]
        def mutable? = false

        # @return [String, nil]
        # @raise [ArgumentError] when it is no value of the enum
        def cast(value)
          return if value.nil? || value == ""
          return value.to_s if @values.key?(value.to_s)
          @words.fetch(value) { @words.fetch(Integer(value, exception: false)) { raise ArgumentError, "#{value.inspect} is no #{@name}: #{@values.keys.join(", ")}" } }
        end

        # @return [Object, nil]
        def serialize(value) = @values[value&.to_s]

        # @return [String, nil]
        def deserialize(value) = @words[value]
      end

      # Declares it: a scope, a predicate and a writer for each value, and a class method with all of them.
      #
      # @example
      #   enum :status, [:draft, :published], default: :draft # Post.published, post.published?, post.published!, Post.statuses
      # @param name [Symbol]
      # @param values [Array<Symbol>, Hash{Symbol => Object}] an Array is stored as 0, 1, 2 ...
      # @param prefix [Boolean, Symbol] of the methods' names; true: the attribute's name
      # @param suffix [Boolean, Symbol]
      # @param scopes [Boolean]
      # @param default [Symbol, nil]
      # @return [nil]
      def enum(name, values, prefix: nil, suffix: nil, scopes: true, default: nil)
        values = values.is_a?(Hash) ? values.transform_keys(&:to_s) : values.each_with_index.to_h { |value, index| [value.to_s, index] }
        attribute(name, Type.new(name, values.freeze), default: default&.to_s)
        define_singleton_method(name.to_s.pluralize) { values.with_indifferent_access }
        values.each_key do |value|
          method = [(prefix == true) ? name : prefix, value, (suffix == true) ? name : suffix].select(&:present?).join("_")
          define_method(:"#{method}?") { self[name] == value }
          define_method(:"#{method}!") { update!(name => value) }
          next unless scopes
          scope method.to_sym, -> { where(name => value) }
          scope :"not_#{method}", -> { where.not(name => value) }
        end
        nil
      end
    end
  end
end
