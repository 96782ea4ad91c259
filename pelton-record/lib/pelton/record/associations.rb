# frozen_string_literal: true

require_relative "association/collection"
require_relative "association/counting"
require_relative "association/dependents"
require_relative "association/limit"
require_relative "association/lookup"
require_relative "association/nested"
require_relative "association/owner"
require_relative "association/polymorphic"
require_relative "association/reflection"
require_relative "association/single"
require_relative "association/through"

module Pelton
  module Record
    # ActiveRecord's associations, defined as Sequel's: belongs_to is many_to_one, has_many is one_to_many (or many_to_many, `through:` others),
    # has_one is one_to_one. They load for a whole result set.
    module Associations
      include Association::Lookup
      include Association::Through

      # Declares that this model's rows refer to another's.
      #
      # @example belongs_to :author, class_name: "User", counter_cache: true, touch: true
      # @param name [Symbol]
      # @param scope [Proc, nil] conditions; its `self` is a relation
      # @param class_name [String, nil] by default from the name
      # @param foreign_key [Symbol] by default name_id
      # @param primary_key [Symbol] the other model's
      # @param optional [Boolean] whether it may be nil; otherwise an object without it is invalid
      # @param polymorphic [Boolean] whether it may be of any model, named in the column name_type
      # @param counter_cache [Boolean, Symbol] the other's column that counts this model's objects
      # @param touch [Boolean, Symbol] whether writing this object sets the other's updated_at, and the named column
      # @param dependent [Symbol, nil] :destroy or :delete, when this object is destroyed
      # @return [nil]
      def belongs_to(name, scope = nil, class_name: nil, foreign_key: :"#{name}_id", primary_key: nil, optional: false, polymorphic: false,
        foreign_type: :"#{name}_type", counter_cache: nil, touch: nil, dependent: nil, inverse_of: nil, autosave: nil, validate: nil)
        refuse_block("belongs_to :#{name}") if block_given?
        options = {key: foreign_key.to_sym, class: class_name, primary_key: primary_key, reciprocal: inverse_of, validated: validate, counted: counter_cache}.compact
        options.merge!(Association::Polymorphic.options(name, foreign_key.to_sym, foreign_type.to_sym)) if polymorphic
        associate(:many_to_one, name, **options, **scoping_options(name, scope), &scoped(scope).first)
        autosave(name) if autosave
        Association::Single.define_parent(self, name)
        validates_parent(name, foreign_key.to_sym) unless optional
        Association::Counting.count(self, name, (counter_cache == true) ? nil : counter_cache.to_sym) if counter_cache
        Association::Counting.touch(self, name, (touch == true) ? [] : [touch]) if touch
        after_destroy { public_send(name)&.public_send(dependent) } if dependent
      end

      # Declares that other rows refer to this model's.
      #
      # @example has_many :posts, -> { order(:title) }, dependent: :destroy
      # @example has_many :tags, through: :taggings
      # @param name [Symbol]
      # @param scope [Proc, nil] conditions; its `self` is a relation
      # @param class_name [String, nil] by default from the name's singular
      # @param foreign_key [Symbol] by default this model's name with _id
      # @param primary_key [Symbol] this model's
      # @param through [Symbol, nil] the association that leads there
      # @param source [Symbol] the association's name there; by default this one's
      # @param as [Symbol, nil] the polymorphic association's name there
      # @param dependent [Symbol, nil] :destroy, :delete_all, :nullify, :restrict_with_error or :restrict_with_exception, when this object is
      #   destroyed
      # @param autosave [Boolean] whether to save changed objects with this one
      # @param counter_cache [Symbol, Boolean, nil] this model's counter column, if it is not name_count
      # @param validate [Boolean, nil] false: invalid new objects do not keep this one from being saved, and are not saved with it
      # @return [nil]
      def has_many(name, scope = nil, class_name: nil, foreign_key: nil, primary_key: nil, through: nil, source: nil, source_type: nil, as: nil,
        dependent: nil, counter_cache: nil, inverse_of: nil, autosave: nil, validate: nil)
        refuse_block("has_many :#{name}") if block_given?
        kept = {validated: validate}.compact
        return has_through(:many_to_many, name, scope, through: through, source: source, source_type: source_type, **kept) if through
        autosave(name) if autosave
        options = {class: class_name, key: foreign_key&.to_sym, primary_key: primary_key&.to_sym, reciprocal: inverse_of, **kept}.compact
        options.merge!(Association::Polymorphic.owner_options(self, as)) if as
        associate(:one_to_many, name, dependent: dependent, counter_cache: counter_cache, **options, **scoping_options(name, scope), &scoped(scope).first)
        define_collection(name)
        Association::Dependents.add(self, name, dependent) if dependent
      end

      # Declares that one other row refers to this model's.
      #
      # @param (see #has_many)
      # @return [nil]
      def has_one(name, scope = nil, class_name: nil, foreign_key: nil, primary_key: nil, through: nil, source: nil, source_type: nil, as: nil,
        dependent: nil, inverse_of: nil, autosave: nil, validate: nil)
        refuse_block("has_one :#{name}") if block_given?
        return has_through(:one_through_one, name, scope, through: through, source: source, source_type: source_type) if through
        autosave(name) if autosave
        options = {class: class_name, key: foreign_key&.to_sym, primary_key: primary_key&.to_sym, reciprocal: inverse_of, validated: validate}.compact
        options[:validate] = false if autosave && validate == false # Sequel's writer also saves the object
        options.merge!(Association::Polymorphic.owner_options(self, as)) if as
        associate(:one_to_one, name, dependent: dependent, **options, **scoping_options(name, scope), &scoped(scope).first)
        Association::Single.define_child(self, name)
        Association::Dependents.add(self, name, dependent) if dependent
      end

      # Declares that rows of both models refer to each other by a join table without a model.
      #
      # @param name [Symbol]
      # @param scope [Proc, nil]
      # @param class_name [String, nil]
      # @param join_table [Symbol] by default both tables' names in alphabetical order: albums_artists
      # @param foreign_key [Symbol] for this model
      # @param association_foreign_key [Symbol] for the other model
      # @param validate [Boolean, nil] see {#has_many}
      # @return [nil]
      def has_and_belongs_to_many(name, scope = nil, class_name: nil, join_table: nil, foreign_key: nil, association_foreign_key: nil, validate: nil)
        refuse_block("has_and_belongs_to_many :#{name}") if block_given?
        association_foreign_key ||= :"#{class_name.demodulize.underscore}_id" if class_name
        options = {class: class_name, join_table: join_table, left_key: foreign_key, right_key: association_foreign_key, validated: validate}.compact
        associate(:many_to_many, name, **options, **scoping_options(name, scope), &scoped(scope).first)
        define_collection(name)
      end

      # @private
      def polymorphic_name = table_root.name

      private

      def refuse_block(call)
        raise ArgumentError, "#{call} takes no block: a scope is a Proc behind the name, as in #{call}, -> { order(:id) }; a class method of the other model is a method of the collection, too"
      end

      # Converts a relation's block to one that takes a dataset. Sequel calls it on the object, unless it loads for several.
      #
      # @return [Array<Proc>]
      def scoped(scope)
        return [] unless scope
        own = owner_scope?(scope)
        [lambda do |dataset|
          raise ArgumentError, "the association's scope depends on the object that has it, so it cannot be joined" if own && !is_a?(Model)
          evaluated = ->(relation) { ((own ? relation.instance_exec(self, &scope) : relation.instance_exec(&scope)) || relation).dataset }
          evaluated.call(Association::Limit.without_replaced(Relation.new(dataset.model, dataset), &evaluated))
        end]
      end

      def owner_scope?(scope) = scope&.arity == 1

      def scoping_options(name, scope)
        options = {graph_use_association_block: true, scope: scope, scopes: scoped(scope)}
        return options unless owner_scope?(scope)
        {**options, owner_scope: true, eager_loader: ->(loading) { loading[:rows].each { |row| row.send(:load_by_itself, name) } }}
      end

      # Applies the default scope and the association's scope to joined tables.
      def eager_graph_dataset(reflection, options)
        rows = reflection.limit.table
        options[:callback] ? options[:callback].call(rows) : rows
      end

      # Blocks of this module never depend on the object.
      def _association_instance_specific_default(_) = false

      def define_collection(name)
        overridable_methods_module.module_eval do
          define_method(name) { |*| _collection(name) }
          define_method(:"#{name}=") { |records| _collection(name).replace(records) }
          define_method(:"#{name.to_s.singularize}_ids") { _collection(name).ids }
          define_method(:"#{name.to_s.singularize}_ids=") { |ids| _collection(name).ids = ids }
        end
      end

      def validates_parent(name, key)
        validate(if: ->(record) { record.new? || record.attribute_changed?(key) }) do
          errors.add(name, :blank, message: :required) if public_send(name).nil?
        end
      end
    end
  end
end
