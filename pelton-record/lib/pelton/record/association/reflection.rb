# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # Extends Sequel's reflection of an association: scopes, also the other model's, are evaluated for each query.
      # @private
      module Reflection
        # @return [Boolean]
        def polymorphic? = !self[:polymorphic].nil?

        # @private
        # @return [Limit]
        def limit = @limit ||= Limit.new(self)

        # @private
        # @return [Hash] attributes that the association's scope gives to new objects
        def given(owner)
          scope = self[:scope] or return ::Sequel::OPTS
          found = Relation.new(associated_class, associated_class.dataset)
          (self[:owner_scope] ? found.instance_exec(owner, &scope) : found.instance_exec(&scope))&.given || ::Sequel::OPTS
        end

        # @private
        # In a join, Sequel selects all columns of the other table; a default scope may have selected some.
        def apply_dataset_changes(rows)
          chosen = rows.opts[:select] if default_scoped?
          found = super
          chosen ? found.select(*chosen) : found
        end

        # @private
        # What Sequel caches of a scope holds for one query: the next one may have another time or tenant.
        FOR_ONE_QUERY = %i[_dataset associated_eager_dataset filter_by_associations_conditions_dataset placeholder_loader placeholder_eager_loader union_eager_loader].freeze
        private_constant :FOR_ONE_QUERY

        private

        # Applies the other model's default scope.
        def _associated_dataset = polymorphic? ? super : associated_class.associated_rows(super)

        def scoped? = !self[:block].nil? || default_scoped?

        def cached_fetch(key) = (FOR_ONE_QUERY.include?(key) && scoped? && (key != :_dataset || default_scoped?)) ? yield : super

        def default_scoped? = !polymorphic? && associated_class.default_scopes.any?

        def use_placeholder_loader? = !scoped? && super

        # Finds the other class in the model's module, or one around it. A name made by Sequel already contains the modules.
        def constantize(name)
          modules = self[:model].name.to_s.split("::")
          full = name.delete_prefix("::")
          [full, full.split("::").last].uniq.product(modules.size.downto(0).to_a) do |one, depth|
            found = [*modules.first(depth), one].join("::").safe_constantize
            return found if found.is_a?(Class)
          end
          raise NameError, "#{self[:model]}.#{self[:name]}: there is no class #{name}. Name it by class_name:"
        end
      end
    end
  end
end
