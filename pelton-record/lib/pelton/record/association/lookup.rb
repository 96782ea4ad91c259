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
      end
    end
  end
end
