# frozen_string_literal: true

module Pelton
  module Record
    # Changes since the object was loaded, and those of the last save, on top of Sequel's plugin dirty.
    module Dirty
      # @private
      def self.included(model)
        model.attribute_method_suffix("_changed?", "_change", "_was", "_will_change!", "_before_last_save", parameters: false)
        model.attribute_method_affix({prefix: "saved_change_to_", suffix: "?", parameters: false})
        model.attribute_method_prefix("saved_change_to_", parameters: false)
      end

      # @return [Array<Symbol>]
      def changed_columns
        return super.tap { |columns| _note_mutations(columns) if @loaded } unless new?
        @values.filter_map { |name, value| name unless value == _default_of(name) }
      end

      # @return [Boolean] whether an attribute differs from the database's
      def changed? = changed_columns.any?

      # @return [Array<String>] names
      def changed = changed_columns.map(&:to_s)

      # @return [Hash{String => Array}] name => [before, now]
      def changes
        columns = changed_columns
        return _indifferent(column_changes.slice(*columns)) unless new?
        _indifferent(columns.to_h { |name| [name, [_default_of(name), @values[name]]] })
      end

      # @return [Hash{String => Array}] changes of the last save: name => [before, after]
      def saved_changes = _indifferent(@saved_changes || {})

      # ActiveModel's name for {#saved_changes}.
      # @return [Hash{String => Array}]
      def previous_changes = saved_changes

      # @return [Boolean] whether the last save has changed anything
      def saved_changes? = !(@saved_changes.nil? || @saved_changes.empty?)

      # @return [self] with the loaded attributes
      def restore_attributes(names = changed)
        names.each { |name| reset_column(name.to_sym) }
        self
      end

      # @return [Boolean]
      def attribute_changed?(name, **values)
        name = name.to_sym
        changed_columns.include?(name) && {from: 0, to: 1}.all? { |key, index| !values.key?(key) || column_change(name)&.at(index) == values[key] }
      end

      # @return [Object] the value in the database
      def attribute_was(name) = initial_value(name.to_sym)

      # @return [Array, nil] [before, now]
      def attribute_change(name) = attribute_changed?(name) ? column_change(name.to_sym) : nil

      # Announces that a value will be changed in place.
      def attribute_will_change!(name) = will_change_column(name.to_sym)

      # @return [Object] the value before the last save
      def attribute_before_last_save(name) = saved_changes.fetch(name) { [self[name]] }.first

      # @return [Boolean] whether the last save has changed it
      def saved_change_to_attribute?(name, **values)
        change = saved_changes[name] or return false
        {from: 0, to: 1}.all? { |key, index| !values.key?(key) || change[index] == values[key] }
      end

      # @return [Array, nil] [before, after]
      def saved_change_to_attribute(name) = saved_changes[name]

      private

      # Sequel forgets a new object's changes when it is created.
      def after_create
        super
        @saved_changes = @values.each_with_object({}) { |(name, value), changes| changes[name] = [_default_of(name), value] unless value == _default_of(name) }
      end

      def after_update
        super
        @saved_changes = @previous_changes
      end

      # The default that a new object started with.
      def _default_of(name)
        default = model.default_values[name]
        default.respond_to?(:call) ? @defaults&.fetch(name, nil) : default
      end

      # Notes attributes that a block has set.
      def _keep_defaults(names) = @defaults = names.to_h { |name| [name, self[name]] }

      def _indifferent(changes) = changes.transform_keys(&:to_s).with_indifferent_access
    end
  end
end
