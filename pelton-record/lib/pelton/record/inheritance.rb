# frozen_string_literal: true

module Pelton
  module Record
    # Single-table inheritance: a table with a column `type` holds the rows of a model and its subclasses.
    module Inheritance
      # @return [Symbol] the column with the class's name; by default :type
      def inheritance_column = @inheritance_column || (equal?(Model) ? :type : superclass.inheritance_column)

      # @param name [Symbol, String, nil] nil turns inheritance by column off
      def inheritance_column=(name)
        @inheritance_column = name&.to_sym || :_none
      end

      # @return [Boolean] whether rows name their class
      def inherits_by_column? = !abstract_class? && table_root.db_schema.key?(inheritance_column)

      # @private
      # A row's class, by its column. Only subclasses of the model are accepted.
      def class_of_row(row)
        class_of_name(row[inheritance_column]) do |name|
          raise Error, "a row of #{table_root.table_name} has the #{inheritance_column} #{name.inspect}, which is no #{table_root}"
        end
      end

      # @param attributes [Hash] may name the class: Vehicle.new(type: "Car") is a Car
      # @return [Model]
      # @raise [Forbidden, ArgumentError] see {Assignment#assign_attributes}
      def new(attributes = ::Sequel::OPTS, &block)
        return super if !attributes.respond_to?(:empty?) || attributes.is_a?(Array) || attributes.is_a?(String) || attributes.empty? || abstract_class? || !inherits_by_column?
        name = attributes[inheritance_column] || (attributes[inheritance_column.to_s] if permitted.include?(inheritance_column.to_s))
        return super if name.nil? || name == self.name
        found = class_of_name(name) { raise ArgumentError, "#{name.inspect} is no #{self}" }
        raise ArgumentError, "#{name.inspect} is no #{self}" unless found <= self
        found.equal?(self) ? super : found.new(attributes, &block)
      end

      # @private
      # @return [Array<String>] the names of this class and all its subclasses
      def type_names = [name, *subclasses.flat_map(&:type_names)]

      private

      def table_loaded
        super
        return unless equal?(table_root) && @db_schema.key?(inheritance_column)
        rows = ->(row) { class_of_row(row).call(row) }
        @dataset = @dataset.with_row_proc(rows)
        self.simple_table = nil
        reset_instance_dataset
      end

      def class_of_name(name)
        return table_root if name.nil? || name == "" || name == table_root.name
        found = name.to_s.safe_constantize
        (found.is_a?(Class) && found <= table_root) ? found : yield(name)
      end

      # A class's rows name it or one of its subclasses.
      def load_inherited_table
        root = table_root
        rows = root.dataset
        if root.inherits_by_column?
          column = ::Sequel.qualify(root.table_name, inheritance_column)
          rows = rows.where(column => ::Sequel.delay { type_names })
        end
        row_proc = rows.row_proc
        set_dataset(rows, inherited: true)
        @columns, @db_schema = root.columns - ignored_columns, root.db_schema.except(*ignored_columns)
        root.attribute_types.each { |name, type| attribute_types[name] ||= type }
        @dataset = @dataset.with_row_proc(root.inherits_by_column? ? row_proc : self)
        self.simple_table = nil
        set_primary_key(root.primary_key)
        reset_instance_dataset
        @dataset
      end

      # Writes an object's class.
      module Typed
        # @private
        def initialize(...)
          super
          column = model.inheritance_column
          self[column] = model.name if !model.equal?(model.table_root) && model.inherits_by_column? && self[column].nil?
        end

        # @return [Model] the same row as an object of another class
        def becomes(other)
          other.allocate.tap { |record| instance_variables.each { |name| record.instance_variable_set(name, instance_variable_get(name)) } }
        end
      end
    end
  end
end
