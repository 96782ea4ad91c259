# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # Resolves associations and their classes on first use, so that classes may be defined in any order.
      module Lookup
        # @private
        def associate(type, name, **options, &block)
          super(type, name.to_sym, options, &block).tap { |reflection| reflection.extend(Reflection) }
          association_reflections[name.to_sym].extend(Reflection)
        end

        # @param name [Symbol]
        # @return [Sequel::Model::Associations::AssociationReflection, nil] this model's, or a parent's
        def association_reflection(name)
          super || define_through(name) || (superclass.association_reflection(name) if superclass < Model)
        end
      end
    end
  end
end
