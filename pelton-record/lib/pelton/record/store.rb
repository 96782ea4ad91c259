# frozen_string_literal: true

module Pelton
  module Record
    # Attributes stored together in a JSON column.
    module Store
      # Makes a column a Hash stored as JSON, with accessors for its keys.
      #
      # @example store :settings, accessors: [:color, :size]
      # @param name [Symbol] a column of text or JSON
      # @param accessors [Array<Symbol>]
      # @param coder [Object] must be JSON: values are never read by Marshal or YAML
      # @return [nil]
      # @raise [ArgumentError] if the coder is not JSON
      def store(name, accessors: [], coder: JSON, **options)
        raise ArgumentError, "#{self}.#{name}: values are stored as JSON, never by #{coder}" unless coder.equal?(JSON)
        attribute(name, Type.new, default: -> { {}.with_indifferent_access })
        store_accessor(name, *accessors, **options)
      end

      # Defines readers and writers for keys of a Hash column.
      #
      # @example store_accessor :settings, :color, :size, prefix: true
      # @param column [Symbol]
      # @param keys [Array<Symbol>]
      # @param prefix [Boolean, Symbol] for method names; true for the column's name
      # @param suffix [Boolean, Symbol]
      # @return [nil]
      def store_accessor(column, *keys, prefix: nil, suffix: nil)
        keys.flatten.each do |key|
          method = [(prefix == true) ? column : prefix, key, (suffix == true) ? column : suffix].select(&:present?).join("_")
          overridable_methods_module.define_method(method) { self[column]&.fetch(key.to_s, nil) }
          overridable_methods_module.define_method(:"#{method}=") { |value| self[column] = (self[column] || {}).merge(key.to_s => value) }
        end
        nil
      end

      # A Hash, never nil.
      class Type < AttributeTypes::Json
        # @return [ActiveSupport::HashWithIndifferentAccess]
        def deserialize(value) = (super || {}).with_indifferent_access

        # @return [ActiveSupport::HashWithIndifferentAccess]
        def cast(value) = (value || {}).with_indifferent_access
      end
    end
  end
end
