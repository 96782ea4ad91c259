# frozen_string_literal: true

module Pelton
  module Record
    # A model's table, looked up on first use, so that models may be defined before connecting.
    module Table
      # @return [Sequel::Database] the model's own, or else the default one
      # @raise [Error] if none is connected
      def db
        return @dataset.db if @dataset
        own_database || Record.database(database_name) || raise(Error, "#{self} has no database: call Pelton::Record.connect#{"(..., name: #{database_name.inspect})" if database_name} first")
      end

      # Chooses one of several databases, for this class and its subclasses.
      #
      # @param name [Symbol, nil] as given to {Record.connect}
      def database_name=(name)
        @database_name = name
        forget_table
      end

      # @return [Symbol, nil]
      def database_name = @database_name || (superclass.database_name unless equal?(Model))

      # @private
      def own_database = @db || (superclass.own_database unless equal?(Model))

      # The model's rows as a Sequel dataset.
      #
      # @asynchronous when the table is looked up
      # @return [Sequel::Dataset]
      # @raise [Error] if there is no such table, or no database
      def dataset = (@dataset unless @loading) || load_table

      # @return [Symbol, Sequel::SQL::Expression] as in SQL
      def table_name = @dataset ? super : own_table_name

      # Sets the table's name. The default is the plural of the class's name, after the `table_name_prefix` of surrounding modules.
      #
      # @param name [String, Symbol, Sequel::SQL::Expression, nil] "people", or "crm.people" with the schema
      def table_name=(name)
        name = name.to_s.split(".").map(&:to_sym).then { |schema, table| table ? ::Sequel[schema][table] : schema } if name.is_a?(String)
        @own_table_name = name
        forget_table
      end

      # Sets the primary key, if the database does not declare it.
      #
      # @param name [String, Symbol, Array<Symbol>]
      def primary_key=(name)
        @own_primary_key = name.is_a?(Array) ? name : name.to_sym
        @dataset ? set_primary_key(@own_primary_key) : @primary_key = @own_primary_key
      end

      # @return [Boolean] whether the class has no table, and is only inherited from
      attr_writer :abstract_class

      # @return [Boolean]
      def abstract_class? = equal?(Model) || (defined?(@abstract_class) && @abstract_class) || false
      alias_method :abstract_class, :abstract_class?

      # @return [Symbol, Sequel::SQL::Expression] the default name
      def implicit_table_name
        parents = name.split("::")[0..-2].each_index.map { |index| Object.const_get(name.split("::")[0..index].join("::")) }.reverse
        prefix = parents.find { |parent| parent.respond_to?(:table_name_prefix) }&.table_name_prefix
        prefix = "#{parents.first.implicit_table_name.to_s.singularize}_" if prefix.nil? && parents.first.is_a?(Table) && !parents.first.abstract_class?
        :"#{prefix}#{name.demodulize.underscore.pluralize}"
      end

      # @return [Array<String>] ActiveRecord's form; Sequel's `columns` are Symbols
      def column_names = dataset && columns.map(&:to_s)

      # @return [Hash{Symbol => Hash}] Sequel's description of each column
      # @asynchronous when the table is looked up
      def db_schema
        load_table if (@loading || !@dataset) && !abstract_class?
        super
      end

      # @return [Boolean] whether the table exists
      # @asynchronous
      def table_exists? = db.table_exists?(own_table_name)

      # @private
      # The class that the table belongs to, which subclasses share.
      def table_root = superclass.abstract_class? ? self : superclass.table_root

      # @private
      # Looks the tables up again in a new database.
      def database_changed = forget_table

      private

      # Sequel would look the table up here, unless the class has the variable.
      def inherited(subclass)
        subclass.instance_variable_set(:@dataset, nil)
        super
        %i[@columns @db_schema @default_values].each { |name| subclass.instance_variable_set(name, nil) } if abstract_class?
      end

      def own_table_name = equal?(table_root) ? (@own_table_name || implicit_table_name) : table_root.table_name

      # Reading the columns parks. Other fibers and threads must not see the model before all of it is known, so they wait.
      LOADING = Mutex.new
      private_constant :LOADING

      def load_table
        raise Error, "#{self} has no table: it is an abstract class" if abstract_class?
        return @dataset || read_table if LOADING.owned?
        LOADING.synchronize { @dataset || read_table }
      end

      def read_table
        @loading = true
        equal?(table_root) ? read_own_table : load_inherited_table
        @loading = false
        @dataset
      rescue ::Sequel::DatabaseConnectionError, ::Sequel::DatabaseDisconnectError
        raise
      rescue ::Sequel::DatabaseError => error
        raise Error, "#{self} has no table #{own_table_name}: create it, or set self.table_name (#{error.message.lines.first.strip})"
      ensure
        forget_table if @loading
        @loading = false
      end

      def read_own_table
        raise Error, "a model without a name needs `self.table_name = \"...\"`" unless name || @own_table_name
        set_dataset(own_table_name)
        set_primary_key(@own_primary_key) if defined?(@own_primary_key)
        table_loaded
      end

      # Called when the columns are known.
      def table_loaded
        @column_types = @db_schema.filter_map do |name, column|
          next if attribute_types.key?(name) || (type = AttributeTypes.of_column(self, name, column)).nil?
          attribute_types[name] = type
          name
        end
        return if primary_key.nil? || @db_schema.key?(:id) || overridable_methods_module.method_defined?(:id, false)
        overridable_methods_module.define_method(:id) { pk }
        overridable_methods_module.define_method(:id=) { |value| pk_hash.keys.zip(Array(value)) { |name, one| self[name] = one } }
      end

      KNOWN_BY_TABLE = %i[@dataset @columns @db_schema @instance_dataset @unique_columns @create_timestamps @update_timestamps @columns_to_cast @lookups @integer_key @renamed_columns].freeze
      private_constant :KNOWN_BY_TABLE

      def forget_table
        KNOWN_BY_TABLE.each { |name| instance_variable_set(name, nil) }
        @column_types&.each { |name| attribute_types.delete(name) }
        @db = nil unless abstract_class? || equal?(table_root) # use the root's dataset
        self.simple_table = nil unless abstract_class?
        association_reflections.each_value { |reflection| reflection[:cache]&.clear }
        subclasses.each { |model| model.send(:forget_table) }
      end
    end
  end
end
