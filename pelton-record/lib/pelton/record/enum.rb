# frozen_string_literal: true

module Pelton
  module Record
    # Named values of a column: `enum :status, [:draft, :published]`.
    module Enum
      # Converts between names and the column's values.
      class Type < ActiveModel::Type::Value
        # @return [Hash{String => Object}]
        attr_reader :values

        # @param name [Symbol]
        # @param values [Hash{String => Object}]
        # @param strict [Boolean] whether to raise for other names, rather than leave them to a validation
        def initialize(name, values, strict: true)
          super()
          @strict = strict
          @name = name
          @values = values
          @words = values.invert
        end

        # @return [Symbol]
        def type = :enum

        # @return [Boolean]
        def mutable? = false

        # @return [String, nil]
        # @raise [ArgumentError] if it is no value of the enum
        def cast(value)
          return if value.nil? || value == ""
          return value.to_s if @values.key?(value.to_s)
          @words.fetch(value) { @strict ? raise(ArgumentError, "'#{value}' is not a valid #{@name}") : value.to_s }
        end

        # @return [Object, nil]
        def serialize(value) = @values[value&.to_s]

        # @return [String, nil]
        def deserialize(value) = @words[value]
      end

      # Declares an enum: a scope, a predicate and a writer for each value, and a class method that returns them all.
      #
      # @example
      #   enum :status, [:draft, :published], default: :draft # Post.published, post.published?, post.published!, Post.statuses
      # @param name [Symbol]
      # @param values [Array<Symbol>, Hash{Symbol => Object}] an Array is stored as 0, 1, 2 ...
      # @param prefix [Boolean, Symbol] for method names; true for the attribute's name
      # @param suffix [Boolean, Symbol]
      # @param scopes [Boolean]
      # @param default [Symbol, nil]
      # @param validate [Boolean, Hash] whether an unknown name makes the object invalid; otherwise assigning it raises ArgumentError
      # @param instance_methods [Boolean] whether to define predicates and writers
      # @return [nil]
      def enum(name, values, prefix: nil, suffix: nil, scopes: true, default: nil, validate: false, instance_methods: true)
        values = values.is_a?(Hash) ? values.transform_keys(&:to_s) : values.each_with_index.to_h { |value, index| [value.to_s, index] }
        attribute(name, Type.new(name, values.freeze, strict: !validate), **(default.nil? ? {} : {default: default.to_s}))
        validates_inclusion_of(name, in: values.keys, **(validate.is_a?(Hash) ? validate : {})) if validate
        define_singleton_method(name.to_s.pluralize) { values.with_indifferent_access }
        values.each_key do |value|
          method = [(prefix == true) ? name : prefix, value, (suffix == true) ? name : suffix].select(&:present?).join("_")
          if instance_methods
            define_method(:"#{method}?") { self[name] == value }
            define_method(:"#{method}!") { update!(name => value) }
          end
          next unless scopes
          scope method.to_sym, -> { where(name => value) }
          scope :"not_#{method}", -> { where.not(name => value) }
        end
        nil
      end
    end
  end
end
