# frozen_string_literal: true

module Pelton
  module Record
    # Attributes that keep the value with which their row was made: a model includes it by `attr_readonly`.
    module ReadonlyAttributes
      # Declares them.
      module ClassMethods
        # @example attr_readonly :email
        # @param names [Array<Symbol>] attributes
        # @return [nil]
        def attr_readonly(*names)
          @readonly_attributes = readonly_attributes | names.map { |name| column_alias(name.to_sym) }
          include(ReadonlyAttributes)

          nil
        end

        # @return [Array<Symbol>]
        def readonly_attributes = @readonly_attributes || (superclass.respond_to?(:readonly_attributes) ? superclass.readonly_attributes : [])
      end

      # @raise [ReadOnly] when the row is there and keeps this attribute
      def []=(name, value)
        refuse_readonly_attribute(name) unless new?
        super
      end
      alias_method :write_attribute, :[]=

      # @raise [ReadOnly] (see #[]=)
      # @asynchronous
      def update_columns(attributes)
        attributes.each_key { |name| refuse_readonly_attribute(name) }
        super
      end

      private

      def refuse_readonly_attribute(name)
        return unless model.readonly_attributes.include?(model.column_alias(name.to_sym))
        raise ReadOnly.new(self, "#{model}.#{name} is set when the row is made, and stays: attr_readonly")
      end
    end
  end
end
