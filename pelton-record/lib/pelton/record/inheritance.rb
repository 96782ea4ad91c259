# frozen_string_literal: true

module Pelton
  module Record
    # Single-table inheritance: a table with a column `type` holds the rows of a model and of those that inherit from it.
    module Inheritance
      # @return [Symbol] the column with the class's name; :type unless it is set
      def inheritance_column = @inheritance_column || (equal?(Model) ? :type : superclass.inheritance_column)

      # @param name [Symbol, String, nil] nil: the table is the class's alone
      def inheritance_column=(name)
        @inheritance_column = name&.to_sym || :_none
      end

      # @return [Boolean] whether rows say of which class they are
      def inherits_by_column? = !abstract_class? && table_root.db_schema.key?(inheritance_column)

      # @private
      # The class of a row, by its column. Only a class that inherits from the model is taken.
      def class_of_row(row)
        name = row[inheritance_column]
        return table_root if name.nil? || name == "" || name == table_root.name
        found = name.safe_constantize
        return found if found.is_a?(Class) && found <= table_root
        raise Error, "a row of #{table_root.table_name} has the #{inheritance_column} #{name.inspect}, which is no #{table_root}"
      end

      # @private
      # @return [Array<String>] the names of this class and of all that inherit from it
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

      # A class's rows are those of its name, or of one that inherits from it.
      def load_inherited_table
        root = table_root
        rows = root.dataset
        if root.inherits_by_column?
          column = Sequel.qualify(root.table_name, inheritance_column)
          rows = rows.where(column => Sequel.delay { type_names })
        end
        row_proc = rows.row_proc
        set_dataset(rows, inherited: true)
        @columns, @db_schema = root.columns, root.db_schema
        @dataset = @dataset.with_row_proc(root.inherits_by_column? ? row_proc : self)
        self.simple_table = nil
        set_primary_key(root.primary_key)
        reset_instance_dataset
        @dataset
      end

      # What an object writes about its class.
      module Typed
        # @private
        def before_create
          column = model.inheritance_column
          self[column] = model.name if !model.equal?(model.table_root) && model.inherits_by_column? && self[column].nil?
          super
        end

        # @return [Model] the same row as an object of another class
        def becomes(other)
          other.allocate.tap { |record| instance_variables.each { |name| record.instance_variable_set(name, instance_variable_get(name)) } }
        end
      end
    end
  end
end
