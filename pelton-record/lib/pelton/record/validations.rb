# frozen_string_literal: true

require_relative "uniqueness"

I18n.load_path << File.expand_path("locale/en.yml", __dir__)

module Pelton
  module Record
    # ActiveModel's validations: `validates :name, presence: true, uniqueness: true`.
    module Validations
      # ActiveModel looks validators up by name, in the model and its ancestors.
      # @private
      UniquenessValidator = Uniqueness

      # @private
      def self.included(model)
        model.include(ActiveModel::Validations)
        model.include(ActiveModel::Validations::Callbacks)
        model.include(Own)
        model.extend(ClassMethods)
      end

      # Validations that use the database.
      module ClassMethods
        # @param names [Array<Symbol>] attributes, then options: scope:, case_sensitive:, conditions:, message: ...
        # @return [nil]
        def validates_uniqueness_of(*names) = validates_with(Uniqueness, _merge_attributes(names))

        # Validates associated objects.
        #
        # @param names [Array<Symbol>] associations
        # @return [nil]
        def validates_associated(*names)
          validates_each(*names) { |record, name, value| record.errors.add(name, :invalid) unless Array(value.respond_to?(:to_a) ? value.to_a : value).all?(&:valid?) }
        end
      end

      # Replaces Sequel's validations.
      module Own
        # @param context [Symbol, nil] for validations with `on:`; nil for :create or :update
        # @return [Boolean]
        # @asynchronous if a validation queries the database
        def valid?(context = nil)
          context = nil if context.is_a?(Hash)
          super(context || (new? ? :create : :update))
        end
        alias_method :validate, :valid?

        # @return [true]
        # @raise [Invalid]
        def validate!(context = nil) = valid?(context) || raise(Invalid, self)

        # @private
        # A value that could not be cast is validated as it was given.
        def read_attribute_for_validation(name)
          return @uncast[name] if @uncast&.key?(name)
          model.renamed_columns.include?(name) ? self[name] : public_send(name)
        end

        private

        def _save_valid?(options)
          options[:validate] == false || valid?(@validation_context_given)
        end
      end
    end
  end
end
