# frozen_string_literal: true

module Pelton
  module Record
    # Columns whose names are methods. One that is a method of every model, such as `errors`, is refused when the table is looked up, unless
    # the attribute has another name or is left out. One that every object of Ruby has, such as `method` or `format`, becomes an attribute.
    module ColumnNames
      # Methods of every object that this library and those below it call on a model's objects.
      CALLED = %i[
        __id__ __send__ as_json binding block_given? catch class clone deep_dup define_singleton_method dup enum_for eql? equal? extend freeze frozen? hash inspect instance_exec
        instance_of? instance_variable_defined? instance_variable_get instance_variable_set instance_variables instance_variable_names instance_values is_a? kind_of? lambda
        loop method_missing nil? object_id presence proc public_method public_send raise require respond_to? respond_to_missing? send singleton_class tap then throw
        to_enum to_json to_param to_query to_s try try! warn with_options initialize_copy initialize_dup initialize_clone
      ].freeze

      # Methods of Sequel's and of this library that neither calls, so that a column may have their names.
      FREE = %i[id keys later set].freeze
      NONE = [].freeze
      private_constant :CALLED, :FREE, :NONE

      # @private
      # @param name [Symbol]
      # @return [Boolean] whether no attribute may have that name
      def self.taken?(name)
        return false if FREE.include?(name)
        return CALLED.include?(name) || !Object.instance_method(name).owner.equal?(owner(name)) if Object.method_defined?(name) || Object.private_method_defined?(name)
        Model.method_defined?(name) || Model.private_method_defined?(name)
      end

      # @private
      def self.owner(name) = Model.instance_method(name).owner

      # @return [Array<Symbol>] columns without accessors of their own, for which there is an alias
      def renamed_columns = @renamed_columns || NONE

      private

      def def_column_accessor(*names)
        taken, free = names.partition { |name| ColumnNames.taken?(name) }
        refused = taken - column_aliases.values
        refuse_columns(refused) if refused.any?
        @renamed_columns = taken
        inherited, free = free.partition { |name| name != :id && method_defined?(name) && Model.method_defined?(name) && instance_method(name).owner.equal?(ColumnNames.owner(name)) }
        super(*free)
        inherited.each { |name| def_column_alias(name, name) }
      end

      def refuse_columns(names)
        list = names.map { |name| "`#{name}`" }.join(", ")
        raise Error, "#{self.name || "the model"} cannot have the attribute #{list}: each model has a method of that name. Give the column another name in the class, " \
          "`alias_attribute :its_#{names.first}, :#{names.first}`, or leave it out: `self.ignored_columns = #{names.inspect}`"
      end

      # What an object does with a column that has no accessors.
      module Attribute
        # @private
        # Sequel asks for what a column was before it is assigned, too.
        def get_column_value(name)
          return self[name] if @values.key?(name)
          model.db_schema.key?(name) ? (self[name] if new?) : super
        end

        # @private
        def set_column_value(writer, value) = (model.renamed_columns.any? && model.renamed_columns.include?(name = writer[0..-2].to_sym)) ? self[name] = value : super

        # @private
        def read_attribute_for_serialization(name) = model.renamed_columns.include?(name.to_sym) ? self[name.to_sym] : super
      end
    end
  end
end
