# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # Finds associations and their classes when they are first used, so classes may be defined in any order.
      module Lookup
        # The other class: in the model's own module, or in one around it.
        module ClassName
          private

          # The other's default scope counts here, too.
          def _associated_dataset = associated_class.default_scopes.empty? ? super : associated_class.relation.dataset

          def constantize(name)
            modules = self[:model].name.to_s.split("::")
            modules.size.downto(0) do |depth|
              candidate = [*modules.first(depth), name.delete_prefix("::").then { |full| (depth == modules.size) ? full : full.split("::").last }].join("::")
              found = candidate.safe_constantize
              return found if found.is_a?(Class)
            end
            raise NameError, "#{self[:model]}.#{self[:name]}: there is no class #{name}. Name it by class_name:"
          end
        end

        # @private
        def associate(type, name, **options, &block)
          super(type, name.to_sym, options, &block).tap { |reflection| reflection.extend(ClassName) }
          association_reflections[name.to_sym].extend(ClassName)
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
