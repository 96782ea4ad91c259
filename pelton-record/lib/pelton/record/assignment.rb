# frozen_string_literal: true

module Pelton
  module Record
    # Mass assignment. A Hash with Symbol keys comes from the program, and may set any attribute. One with String keys comes from outside (a
    # query, a form, JSON), and may set what the model permits.
    module Assignment
      # @private
      def self.included(model)
        model.extend(ClassMethods)
      end

      # Class methods.
      module ClassMethods
        # Declares the attributes that a Hash with String keys may set.
        #
        # @example permits :name, :email
        # @param names [Array<Symbol>] attributes; those of parent classes are permitted, too
        # @return [nil]
        def permits(*names)
          @permitted = permitted | names.map(&:to_s)
          nil
        end

        # @private
        def permitted = @permitted || (superclass.respond_to?(:permitted) ? superclass.permitted : [])
      end

      # @param attributes [Hash, #to_h]
      # @return [self]
      # @raise [Forbidden] if a Hash with String keys names an attribute that the model does not permit, or an object with `permitted?` is not
      #   permitted
      # @raise [ArgumentError] if there is no such attribute
      def assign_attributes(attributes)
        return self if attributes.equal?(::Sequel::OPTS)
        permitted = attributes.respond_to?(:permitted?)
        raise Forbidden, "these attributes are not permitted: call permit(:name, ...) on them" if permitted && !attributes.permitted?
        raise ArgumentError, "attributes are a Hash, not a #{attributes.class}" if attributes.nil? || attributes.is_a?(Array) || attributes.is_a?(Set) || attributes.is_a?(Range) || !attributes.respond_to?(:to_h)
        attributes.to_h.each do |name, value|
          _refuse(name) unless permitted || name.is_a?(Symbol) || model.permitted.include?(name)
          _assign(:"#{name}=", value)
        end
        self
      end
      alias_method :attributes=, :assign_attributes

      # Sequel's name for {#assign_attributes}.
      # @return [self]
      def set(attributes) = assign_attributes(attributes)

      private

      def initialize_set(attributes)
        assign_attributes(model.relation.given) unless model.unscoped?
        assign_attributes(attributes || ::Sequel::OPTS)
      end

      def _refuse(name)
        raise Forbidden, "#{model} does not permit #{name.inspect} from outside: `permits :#{name}` in the class, or Symbols as keys when the program itself names it"
      end

      def _assign(writer, value)
        return self[writer[0..-2].to_sym] = value if model.renamed_columns.any? && model.renamed_columns.include?(writer[0..-2].to_sym)
        return public_send(writer, value) if respond_to?(writer)
        raise ArgumentError, "#{model} has no attribute #{writer[0..-2].to_sym.inspect}"
      end
    end
  end
end
