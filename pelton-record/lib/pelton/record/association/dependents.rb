# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # `dependent:`: what happens to an object's has_many and has_one when it is destroyed.
      module Dependents
        # Raised if an object cannot be destroyed because others depend on it (`dependent: :restrict_with_exception`).
        class Restricted < NotSaved
        end

        class << self
          # @private
          def add(model, name, dependent)
            handler = {destroy: :destroy_all, delete_all: :delete_all, delete: :delete_all, nullify: :nullify,
                       restrict_with_error: :refuse, restrict_with_exception: :raise_restricted}.fetch(dependent) do
              raise ArgumentError, "#{model}.#{name}: dependent: is :destroy, :delete_all, :nullify, :restrict_with_error or :restrict_with_exception, not #{dependent.inspect}"
            end
            model.before_destroy { Dependents.send(handler, self, name) }
          end

          private

          def rows(record, name) = Relation.new(record.class.association_reflection(name).associated_class, record.public_send(:"#{name}_dataset"))

          def destroy_all(record, name)
            rows(record, name).to_a.each(&:destroy!)
            record.associations.delete(name)
          end

          def delete_all(record, name) = rows(record, name).delete_all

          def nullify(record, name)
            reflection = record.class.association_reflection(name)
            rows(record, name).update_all([*reflection[:keys], *reflection[:as]].to_h { |key| [key, nil] })
          end

          def refuse(record, name)
            return unless rows(record, name).exists?
            record.errors.add(:base, "Cannot delete record because dependent #{name} exist")
            throw :abort
          end

          def raise_restricted(record, name)
            raise Restricted.new(record, "#{record.class} #{record.pk} was not destroyed: it still has #{name}") if rows(record, name).exists?
          end
        end
      end
    end
  end
end
