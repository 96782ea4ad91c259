# frozen_string_literal: true

module Pelton
  module AsyncRecord
    # What must be known of the two libraries. Their constants are looked up by name, so that neither is loaded.
    class Library
      class << self
        # @param name [Symbol]
        # @return [Library]
        # @raise [ArgumentError] for another name
        def named(name)
          ALL.find { |library| library.name == name } || raise(ArgumentError,
            "AsyncRecord.on takes :active_record or :sequel, not #{name.inspect}")
        end

        # @param model [Class]
        # @return [Library]
        # @raise [ArgumentError] if it is a class of neither
        def of(model)
          ALL.find { |library| library.model?(model) } || raise(ArgumentError,
            "#{model} is no model of ActiveRecord or Sequel")
        end

        # @return [Library] the one that is loaded
        # @raise [Error] if none is, or both are
        def only
          loaded = ALL.select(&:loaded?)
          raise Error, "AsyncRecord::Base needs ActiveRecord or Sequel: require one of them before" if loaded.empty?
          return loaded.first if loaded.size == 1
          raise Error, "both ActiveRecord and Sequel are loaded: say which one AsyncRecord::Base is for, by " \
            "AsyncRecord.on(:sequel) or AsyncRecord.on(:active_record)"
        end

        # @private
        # The records of a relation, and any other value as it is.
        def outcome(value) = (ALL.any? { |library| library.relation?(value) }) ? value.to_a : value
      end

      # @return [Symbol]
      attr_reader :name

      # @param model [String] the name of the class of all models
      # @param relation [String] the name of the class of all relations
      # @param blocks [Hash{Symbol => Boolean, Symbol}] the methods whose blocks have a meaning there, always or only
      #   without arguments
      def initialize(name, model, relation, **blocks)
        @name = name
        @model = model
        @relation = relation
        @blocks = blocks
      end

      # @return [Boolean]
      def loaded? = Object.const_defined?(@model)

      # @return [Boolean]
      def model?(model) = loaded? && model <= constant(@model)

      # @return [Boolean]
      def relation?(value) = loaded? && constant(@relation) === value

      # @return [Boolean] whether the library itself takes the method's block, with these arguments
      def takes_block?(name, *arguments) = @blocks[name] == :always || (@blocks[name] == :alone && arguments.empty?)

      # @return [Class] a new class between the library's and models
      def base = Class.new(constant(@model)) { self.abstract_class = true if respond_to?(:abstract_class=) }

      # @return [Object] what has the methods of a model, within the current scope
      def scope(model) = sequel? ? model : model.all

      # @return [Object] what selects all records of a model, within the current scope
      def relation(model) = sequel? ? model.dataset : model.all

      # @return [Object] what `all` returns for a relation
      def all(relation) = sequel? ? relation.all : relation

      # @private
      def extend_model(model)
        sequel? ? model.dataset_module(Dataset) : model.extend(FindBy)
      end

      private

      def sequel? = @name == :sequel

      def constant(name) = Object.const_get(name)

      ALL = [
        new(:active_record, "ActiveRecord::Base", "ActiveRecord::Relation", find: :alone, "record.save": :always),
        new(:sequel, "Sequel::Model", "Sequel::Dataset", all: :always, find: :always, first: :always, last: :always)
      ].freeze
      private_constant :ALL
    end
    private_constant :Library
  end
end
