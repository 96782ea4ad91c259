# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # What an object does for its associations: it keeps their collections, and saves new objects with itself.
      module Owner
        # @private
        # @param name [Symbol]
        # @return [Collection]
        def collection(name)
          (@collections ||= {})[name] ||= Collection.new(self, model.association_reflection(name) || raise(ArgumentError, "#{model} has no association #{name.inspect}"))
        end

        # @return [self]
        # @asynchronous
        def reload(...)
          @collections = nil
          associations.clear
          super
        end

        # A parent must have its key before this row can name it.
        # @private
        def before_save
          @new_parents&.each do |name, other|
            cancel_action("#{name} is invalid") if other.new? && !other.save
            associations.delete(name) # the writer does nothing for an object that is there
            public_send(:"#{name}=", other)
          end
          @new_parents = nil
          super
        end

        # @private
        def after_save
          super
          @collections&.each_value(&:save_new)
          save_new_children
        end

        private

        def set_new_parent(reflection, other)
          (@new_parents ||= {})[reflection[:name]] = other
          associations[reflection[:name]] = other
        end

        def set_parent_columns(columns) = columns.each { |column, value| self[column] = value }

        # Of a polymorphic association: all objects that were loaded together.
        def load_parent(reflection)
          name = reflection[:name]
          return associations[name] if loaded_together?(name)
          load_together(name) do
            rows = (retrieved_with || [self]).select { |row| row.instance_of?(self.class) && !row.associations.key?(name) }
            reflection[:eager_loader].call(rows: rows) if rows.any?
            associations[name]
          end
        end

        def build_associated(name, attributes)
          reflection = model.association_reflection(name)
          child = reflection[:type] == :one_to_one
          other = reflection.associated_class.new(attributes)
          if child
            reflection[:keys].zip(reflection[:primary_keys]) { |key, own| other[key] = self[own] }
            (reflection[:conditions] || Sequel::OPTS).each { |column, value| other[column] = value } if reflection[:as]
            (@new_children ||= {})[name] = other
            associations[name] = other
          else
            set_new_parent(reflection, other)
          end
          other
        end

        def create_associated(name, attributes, save)
          build_associated(name, attributes).tap do |other|
            next unless other.public_send(save)
            associations.delete(name) # the writer does nothing for an object that is there
            [@new_parents, @new_children].each { |unsaved| unsaved&.delete(name) }
            public_send(:"#{name}=", other)
          end
        end

        def save_new_children
          children, @new_children = @new_children, nil
          children&.each do |name, other|
            reflection = model.association_reflection(name)
            reflection[:keys].zip(reflection[:primary_keys]) { |key, own| other[key] = self[own] }
            cancel_action("#{name} is invalid") if other.new? && !other.save
          end
        end

        def valid_new_records
          @collections&.each { |name, collection| errors.add(name, :invalid) unless collection.unsaved.all? { |one| valid_beside?(one) } }
          @new_parents&.each { |name, other| errors.add(name, :invalid) unless other.persisted? || other.valid? }
        end

        # A new object names this one when both are saved.
        def valid_beside?(other) = other.valid?
      end
    end
  end
end
