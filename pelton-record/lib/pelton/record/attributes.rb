# frozen_string_literal: true

module Pelton
  module Record
    # An object's attributes: its columns, and those that the model declares.
    module Attributes
      # @private
      def self.included(model)
        model.include(ActiveModel::AttributeMethods)
        model.extend(ClassMethods)
        model.attribute_method_suffix("?", "_before_type_cast", parameters: false)
      end

      UNSET = Object.new.freeze
      BOOLEAN = ActiveModel::Type::Boolean.new
      private_constant :UNSET, :BOOLEAN

      # Raised for an integer that no column can hold. (SQLite would store it as a float, PostgreSQL would refuse the query.)
      # @private
      class OutOfRange < ::Sequel::InvalidValue
      end

      # Parts of attribute names that {Attributes#inspect} hides, also from logs and error messages: Rails' list. Case does not matter.
      FILTERED = [:passw, :email, :secret, :token, :_key, :crypt, :digest, :salt, :certificate, :otp, :ssn, :cvv, :cvc].freeze

      # Class methods.
      module ClassMethods
        # Declares an attribute: a column's type or default, or an attribute without a column.
        #
        # @example
        #   attribute :settings, :json, default: -> { {} }
        #   attribute :terms_accepted, :boolean
        # @param name [Symbol]
        # @param type [Symbol, #cast, nil] of ActiveModel::Type, or :json, or an object with `cast`, `serialize` and `deserialize`
        # @param default [Object, Proc] for new objects
        # @return [nil]
        def attribute(name, type = nil, default: UNSET, **options)
          name = name.to_sym
          set_attribute_type(name, AttributeTypes.lookup(type, **options)) if type
          unless default.equal?(UNSET)
            (@default_values ||= {})[name] = default
            @declared_defaults = declared_defaults | [name]
          end
          raise ArgumentError, "#{self} cannot have the attribute #{name}: each model has a method of that name" if ColumnNames.taken?(name) && !column_aliases.value?(name)
          return if method_defined?(name)
          @declared = declared | [name]
          overridable_methods_module.define_method(name) { self[name] }
          overridable_methods_module.define_method(:"#{name}=") { |value| self[name] = value }
          nil
        end

        # @param name [Symbol] the new name
        # @param old [Symbol] the column
        def alias_attribute(name, old)
          column_aliases[name.to_sym] = old.to_sym
          def_column_alias(name.to_sym, old.to_sym)
        end

        # Changes values before they are assigned, or compared in `where`.
        #
        # @example normalizes :email, with: ->(email) { email.strip.downcase }
        def normalizes(*names, with:, apply_to_nil: false)
          names.each { |name| normalizers[name] = ->(value) { (value.nil? && !apply_to_nil) ? value : with.call(value) } }
        end

        # @example self.filter_attributes += [:phone]
        # @param names [Array<Symbol, String, Regexp>] parts of names; by default {Attributes::FILTERED}
        attr_writer :filter_attributes

        # @return [Array<Symbol, String, Regexp>] parts of names that `inspect` hides, inherited from parent classes
        def filter_attributes = @filter_attributes || (superclass.respond_to?(:filter_attributes) ? superclass.filter_attributes : FILTERED)

        # @private
        def filtered?(name) = inspection_filter.filter_param(name.to_s, true) != true

        # @private
        # @return [ActiveSupport::ParameterFilter] which also filters Hashes by their keys
        def inspection_filter
          parts = filter_attributes
          @inspection_filter = [parts.dup, ActiveSupport::ParameterFilter.new(parts)] unless @inspection_filter&.first == parts
          @inspection_filter.last
        end

        # @private
        def attribute_types = @attribute_types || inherited_hash(:@attribute_types)
        # @private
        def column_aliases = @column_aliases || inherited_hash(:@column_aliases)
        # @private
        def normalizers = @normalizers || inherited_hash(:@normalizers)
        # @private
        # Attributes that may have no column, or whose default the database does not know.
        def declared = @declared || (superclass.respond_to?(:declared) ? superclass.declared : [])
        # @private
        # Attributes without a column.
        def virtual = declared - db_schema.keys
        # @private
        def declared_defaults = @declared_defaults || (superclass.respond_to?(:declared_defaults) ? superclass.declared_defaults : [])

        # @private
        # Called with rows from the database.
        def call(values)
          return super if @attribute_types.nil? || @attribute_types.empty?
          allocate.then { |record| record.initialize_from_db(record.send(:_restored, values)) }
        end

        # @private
        def column_alias(name) = column_aliases.fetch(name, name)

        # @return [Array<String>]
        def attribute_names = (db_schema.keys | declared).map(&:to_s)

        # @return [Boolean]
        def has_attribute?(name) = db_schema.key?(column_alias(name.to_sym)) || declared.include?(name.to_sym)

        # @private
        # Whether the column's values may be Arrays or Hashes.
        def typed?(name)
          type = attribute_types[name]
          type ? type.try(:mutable?) : db_schema.dig(name, :type).to_s.match?(/json|array|hstore|range|\Arow/)
        end

        # @private
        def columns_to_cast
          @columns_to_cast ||= db_schema.filter_map { |name, column| [name, column[:type]] if %i[datetime date time boolean decimal].include?(column[:type]) }
        end

        # @private
        def typed_attribute?(name) = attribute_types.key?(name)

        # @private
        # Casts a value by the declared type, or the database's.
        #
        # @raise [Sequel::InvalidValue] if it cannot be cast
        def cast(name, value)
          value = normalizers[name].call(value) unless normalizers.empty? || !normalizers.key?(name)
          if (type = attribute_types[name])
            return AttributeTypes.cast(type, name, value)
          end
          value = value.to_s if value.is_a?(Symbol)
          return value if value.nil?
          type = db_schema.dig(name, :type)
          return integer(name, value) if type == :integer && value.is_a?(Integer)
          return value if (type == :string && value.is_a?(String)) || value.is_a?(::Sequel::SQL::Expression)
          raise BadValue, "#{self}.#{name} cannot be a #{value.class}" if (value.is_a?(Hash) || value.is_a?(Array) || value.is_a?(Set)) && !typed?(name)
          return untyped(value) if type.nil?
          return BOOLEAN.cast(value) if type == :boolean
          value = db.typecast_value(type, (value == "" && type != :string && type != :blob) ? nil : value)
          (type == :integer && value) ? integer(name, value) : value
        rescue ::RangeError, EncodingError # such as Infinity as an integer, or text in UTF-16
          raise ::Sequel::InvalidValue, "#{self}.#{name} cannot be this #{value.class}"
        end

        # @private
        # Whether an Integer needs no cast for the column.
        def integers?(name) = db_schema.dig(name, :type) == :integer && !normalizers.key?(name) && !attribute_types.key?(name)

        # @private
        # Casts a value for a comparison by equality.
        #
        # @raise [Sequel::InvalidValue] if no row can have it
        def comparable(name, value)
          value = ordered(name, value)
          raise ::Sequel::InvalidValue, "#{self}.#{name}: no row has so long a text" if value.is_a?(String) && value.bytesize > Sequel::Text::SHORT && too_long?(name, value)
          value
        end

        # @private
        # Casts a value for a comparison by order.
        #
        # @raise [Sequel::InvalidValue] if the database has no such value
        def ordered(name, value)
          given = value
          value = to_database(name, cast(name, value))
          raise ::Sequel::InvalidValue, "#{self}.#{name}: an empty text is no such value" if value.nil? && !given.nil? && !attribute_types.key?(name) && !normalizers.key?(name)
          return value unless value.is_a?(String) && !value.is_a?(::Sequel::SQL::Blob)
          raise ::Sequel::InvalidValue, "#{self}.#{name}: the database has no such text" unless Sequel::Text.storable?(value, db)
          (db.database_type == :sqlite) ? value : Sequel::Text.utf8(value)
        end

        # @private
        # Casts a value that is written without an object.
        #
        # @raise [BadValue] if the column cannot store it
        def writable(name, value)
          to_database(name, cast(name, value))
        rescue ::Sequel::InvalidValue # its message may show the value
          raise BadValue, "#{self}.#{name} cannot be this #{value.class}: the column's type is #{db_schema.dig(name, :db_type) || "another"}"
        end

        # @private
        # Converts a cast value to the database's form; {#restore} converts it back.
        def to_database(name, value) = (type = attribute_types[name]) ? type.serialize(value) : value
        # @private
        def restore(name, value) = (type = attribute_types[name]) ? type.deserialize(value) : value

        private

        # PostgreSQL gives text the column's type, whatever it is.
        def untyped(value)
          (db.database_type != :postgres || value.is_a?(String) || value.respond_to?(:sql_literal_append)) ? value : value.to_s
        end

        # Trailing spaces may not count. SQLite stores longer text than the column's type allows.
        def too_long?(name, text)
          longest = db_schema.dig(name, :max_length)
          longest.is_a?(Integer) && text.length > longest && text.rstrip.length > longest && db.database_type != :sqlite
        end

        def integer(name, value)
          return value if value.bit_length < 64
          raise OutOfRange, "#{self}.#{name} cannot be an integer of more than 64 bits"
        end

        def set_attribute_type(name, type)
          attribute_types[name] = type
        end

        def inherited(subclass)
          super
          subclass.attribute_types if @attribute_types
        end

        def inherited_hash(name)
          instance_variable_get(name) || instance_variable_set(name, superclass.singleton_class.include?(ClassMethods) ? superclass.send(:inherited_hash, name).dup : {})
        end
      end

      # @return [Hash{String => Object}] those read from the database, and those that the model declares
      def attributes
        names = model.db_schema.keys
        names = (names & @values.keys) | @values.keys unless new?
        (names | model.virtual).to_h { |name| [name.to_s, self[name]] }
      end

      # @return [Array<String>]
      def attribute_names = attributes.keys

      # @param name [Symbol, String]
      # @return [Boolean]
      def has_attribute?(name)
        name = model.column_alias(name.to_sym)
        (new? ? model.db_schema : @values).key?(name) || model.virtual.include?(name)
      end

      # @param name [Symbol, String]
      # @return [Object]
      # @raise [ActiveModel::MissingAttributeError] if the object was read without that column
      def [](name)
        @values.fetch(name) do
          own = model.column_alias(name.to_sym)
          next self[own] unless own.equal?(name)
          new? ? super(name) : _absent(name)
        end
      end
      alias_method :read_attribute, :[]
      alias_method :attribute, :[]

      # @return [Object] the assigned value, if it could not be cast
      def attribute_before_type_cast(name) = @uncast&.key?(name.to_sym) ? @uncast[name.to_sym] : self[name.to_sym]

      # @return [String] for {#inspect}
      def attribute_for_inspect(name)
        value = self[name.to_sym]
        return value.inspect if value.nil?
        return "[FILTERED]" if model.filtered?(name)
        value = value.to_hash if value.respond_to?(:to_hash)
        value = value.to_ary if value.respond_to?(:to_ary)
        model.inspection_filter.filter_param(name.to_s, value).inspect
      end

      # @param name [Symbol, String]
      # @param value [Object]
      # @raise [ActiveModel::MissingAttributeError] if there is no such attribute
      def []=(name, value)
        unless @values.key?(name)
          name = model.column_alias(name.to_sym)
          _refuse_unknown(name) unless model.declared.include?(name)
        end
        super
      end
      alias_method :write_attribute, :[]=

      # @return [Hash{String => Object}] the named attributes
      def slice(*names) = names.flatten.to_h { |name| [name.to_s, public_send(name)] }.with_indifferent_access

      # @return [Array]
      def values_at(*names) = names.flatten.map { |name| public_send(name) }

      # @return [Boolean] whether it has a value other than nil, false, 0 and blank
      def attribute?(name)
        value = self[name.to_sym]
        value.respond_to?(:zero?) ? !value.zero? : !value.blank?
      end

      # @return [String] with attributes, except filtered ones
      def inspect = "#<#{model.name} #{@values.keys.map { |name| "#{name}: #{attribute_for_inspect(name)}" }.join(", ")}>"

      # @private
      def attribute_method?(name) = model.db_schema.key?(name.to_sym) || model.declared.include?(name.to_sym) || @values.key?(name.to_sym)

      private

      # A column that was not selected must not look like nil.
      def _absent(name)
        raise ActiveModel::MissingAttributeError, "#{model}.#{name} was not read from the database: select it, too" if model.db_schema.key?(name)
        return unless model.declared.include?(name)
        default = model.default_values[name]
        @values[name] = default.respond_to?(:call) ? default.call : default
      end

      # Values to write: in the database's form, without attributes that have no column.
      def _stored(values)
        return values unless model.attribute_types.any? || model.declared.any?
        columns = model.db_schema
        values.each_with_object({}) { |(name, value), stored| stored[name] = model.to_database(name, value) if columns.key?(name) }
      end

      def _insert_values = _stored(super)

      def _update_without_checking(columns) = super(_stored(columns))

      # Takes the values of a returned row.
      def _restored(values)
        model.attribute_types.each { |name, type| values[name] = type.deserialize(values[name]) if values.key?(name) }
        values.reverse_merge!(@values.slice(*model.declared)) if @values && model.declared.any?
        _remember(values)
      end

      # Remembers values that may be changed in place.
      def _remember(values)
        return values unless model.attribute_types.any?
        @loaded = model.attribute_types.each_with_object({}) do |(name, type), loaded|
          loaded[name] = type.serialize(values[name]) if values.key?(name) && type.try(:mutable?)
        end
        values
      end

      def _save_set_values(values) = super(_restored(_returned(values)))

      # SQLite does not tell the column types of RETURNING.
      def _returned(values)
        return values unless db.database_type == :sqlite
        model.columns_to_cast.each do |name, type|
          value = values[name]
          values[name] = (type == :datetime) ? db.to_application_timestamp(value) : db.typecast_value(type, value) unless value.nil?
        end
        values
      end

      def _refresh_set_values(values) = super(_restored(values))

      # Finds values that were changed in place.
      def _note_mutations(columns)
        @loaded&.each do |name, before|
          next if columns.include?(name) || (type = model.attribute_types[name]).serialize(@values[name]) == before
          columns << name
          initial_values[name] = type.deserialize(before)
        end
      end

      def after_update
        super
        _remember(@values) if @loaded
      end

      # A value that cannot be cast becomes nil, and is kept for validations.
      def typecast_value(column, value)
        @uncast&.delete(column)
        model.cast(column, value)
      rescue ::Sequel::InvalidValue => error
        raise ActiveModel::RangeError, error.message if error.is_a?(OutOfRange)
        raise ArgumentError, error.cause.message if model.attribute_types[column].is_a?(Enum::Type)
        (@uncast ||= {})[column] = value if %i[integer float decimal].include?(model.db_schema.dig(column, :type))
        nil
      end
    end
  end
end
