# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # Finds associations and their classes when they are first used, so classes may be defined in any order.
      module Lookup
        # @private
        def associate(type, name, **options, &block)
          super(type, name.to_sym, options, &block).tap { |reflection| reflection.extend(Reflection) }
          association_reflections[name.to_sym].extend(Reflection)
        end

        # @param name [Symbol]
        # @return [Sequel::Model::Associations::AssociationReflection, nil] of this model, or of one that it inherits from
        def association_reflection(name)
          super || define_through(name) || (superclass.association_reflection(name) if superclass < Model)
        end

        # @param name [Symbol]
        # @return [Sequel::Model::Associations::AssociationReflection, nil] with ActiveRecord's names ({Reflection})
        def reflect_on_association(name) = association_reflection(name.to_sym)

        # @param macro [Symbol, nil] :belongs_to, :has_many, :has_one, :has_and_belongs_to_many
        # @return [Array<Sequel::Model::Associations::AssociationReflection>]
        def reflect_on_all_associations(macro = nil)
          @through&.keys&.each { |name| association_reflection(name) }
          above = (superclass < Model) ? superclass.reflect_on_all_associations : []
          found = above.to_h { |one| [one.name, one] }.merge(association_reflections).values
          macro ? found.select { |one| one.macro == macro } : found
        end
      end
    end
  end
end
