# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # `counter_cache:` and `touch:` of belongs_to, which update the parent when an object is written.
      module Counting
        class << self
          # @private
          def count(model, name, column)
            key = model.association_reflection(name)[:key]
            model.after_create { Counting.add(self, name, self[key], column, 1) }
            model.after_destroy { Counting.add(self, name, self[key], column, -1) }
            model.after_update do
              before, now = saved_changes[key]
              Counting.add(self, name, before, column, -1) && Counting.add(self, name, now, column, 1) if saved_changes.key?(key)
            end
          end

          # @private
          # Called when rows of a has_many were removed by one statement, without callbacks.
          def forget(owner, reflection, count)
            inverse = reflection.associated_class.association_reflections.each_value.find { |one| one[:counted] && one[:key] == reflection[:key] } or return
            column = (inverse[:counted] == true) ? :"#{reflection.associated_class.table_name}_count" : inverse[:counted].to_sym
            return if count.zero? || !owner.has_attribute?(column)
            owner.model.unscoped.where(owner.model.primary_key => owner.pk).update_counters(column => -count)
            owner.values[column] = (owner[column] || 0) - count
          end

          # @private
          # The counter column of a has_many.
          def column_of(reflection) = reflection[:counter_cache].then { |given| given.is_a?(Symbol) ? given : :"#{reflection[:name]}_count" }

          # @private
          def touch(model, name, columns)
            model.after_save { Counting.touch_parent(self, name, columns) if saved_changes? }
            model.after_touch { Counting.touch_parent(self, name, columns) }
            model.after_destroy { Counting.touch_parent(self, name, columns) }
          end

          # @private
          def add(record, name, id, column, by)
            return true if id.nil?
            reflection = record.class.association_reflection(name)
            parent = reflection[:polymorphic] ? Polymorphic.model_of(record[reflection[:polymorphic]]) : reflection.associated_class
            column ||= :"#{record.class.table_name}_count"
            parent.unscoped.where(parent.primary_key => id).update_counters(column => by)
            loaded = record.associations[name]
            loaded.values[column] = (loaded[column] || 0) + by if loaded && loaded.pk == id
            true
          end

          # @private
          def touch_parent(record, name, columns)
            parent = record.public_send(name)
            parent.touch(*columns) if parent&.persisted?
          end
        end
      end
    end
  end
end
