# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # The owner's side of associations: keeps their collections, and saves new objects with the owner. pelton-sequel's plugin pelton_together
      # loads them for a whole result set.
      module Owner
        # @private
        # @param name [Symbol]
        # @return [Collection]
        def _collection(name)
          (@collections ||= {})[name] ||= Collection.new(self, model.association_reflection(name) || raise(ArgumentError, "#{model} has no association #{name.inspect}"))
        end

        # @return [self]
        # @asynchronous
        def reload(...)
          @collections = @new_children = @new_parents = @marked_for_destruction = nil
          associations.clear
          super
        end

        # A parent needs its key before this row can refer to it.
        # @private
        def before_save
          @new_parents&.each do |name, other|
            next unless saved_with_this?(name, other)
            associations.delete(name) # the writer ignores an object that is already there
            public_send(:"#{name}=", other)
          end
          @new_parents = nil
          super
        end

        # @private
        def after_save
          super
          @collections&.values&.each(&:save_new)
          save_new_children
        end

        private

        # A scope that depends on the object must be evaluated for each object.
        def _filter_tactical_eager_load_objects(options)
          model.association_reflection(options[:name])[:owner_scope] ? super & [self] : super
        end

        def load_by_itself(name)
          reflection = model.association_reflection(name)
          found = _load_associated_objects(reflection)
          Array(found).each { |other| other.associations[reflection.reciprocal] = self } if %i[one_to_many one_to_one].include?(reflection[:type]) && reflection.reciprocal
          associations[name] = found
        end

        def set_new_parent(reflection, other)
          (@new_parents ||= {})[reflection[:name]] = other
          associations[reflection[:name]] = other
        end

        def set_new_child(reflection, other)
          (reflection[:conditions] || ::Sequel::OPTS).each { |column, value| other[column] = value } if reflection[:as]
          (@new_children ||= {})[reflection[:name]] = other
          other.associations[reflection.reciprocal] = self if reflection.reciprocal
          associations[reflection[:name]] = other
        end

        # The previous object of a has_one goes as `dependent:` says, or only loses its key.
        def remove_replaced(reflection, other)
          return unless %i[destroy delete delete_all].include?(reflection[:dependent])
          rows = Relation.new(reflection.associated_class, public_send(reflection[:dataset_method]).unlimited)
          rows = rows.excluding(other) if other&.persisted?
          (reflection[:dependent] == :destroy) ? rows.to_a.each(&:destroy!) : rows.delete_all
        end

        def set_parent_columns(columns) = columns.each { |column, value| self[column] = value }

        # Loads a polymorphic association for all objects of the result set.
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
          other = reflection.associated_class.new(reflection.given(self)) { |one| one.assign_attributes(attributes) }
          if child
            reflection[:keys].zip(reflection[:primary_keys]) { |key, own| other[key] = self[own] }
            set_new_child(reflection, other)
          else
            set_new_parent(reflection, other)
          end
          other
        end

        def create_associated(name, attributes, save)
          build_associated(name, attributes).tap do |other|
            next unless other.public_send(save)
            associations.delete(name) # the writer ignores an object that is already there
            [@new_parents, @new_children].each { |unsaved| unsaved&.delete(name) }
            public_send(:"#{name}=", other)
          end
        end

        def save_new_children
          children, @new_children = @new_children, nil
          children&.each do |name, other|
            reflection = model.association_reflection(name)
            reflection[:keys].zip(reflection[:primary_keys]) { |key, own| other[key] = self[own] }
            next unless saved_with_this?(name, other)
            associations.delete(name) # the writer ignores an object that is already there
            public_send(:"#{name}=", other) # which releases the previous one
          end
        end

        # Saves a new object. An invalid one keeps this one from being saved, unless `validate: false` was declared: then it stays new.
        def saved_with_this?(name, other)
          return true unless other.new?
          free = unvalidated?(name)
          other.save(validate: !(free && model.autosaved.include?(name))) || (free ? false : cancel_action("#{name} is invalid"))
        end

        def valid_new_records
          nested = model.autosaved
          @collections&.each { |name, collection| errors.add(name, :invalid) unless nested.include?(name) || unvalidated?(name) || collection.unsaved.all?(&:valid?) }
          @new_parents&.each { |name, other| errors.add(name, :invalid) unless other.persisted? || nested.include?(name) || unvalidated?(name) || other.valid? }
          return if nested.empty?
          _once(:validate) { nested.each { |name| unvalidated?(name) || nested_objects(name).each { |other| valid_nested?(name, other) } } }
        end

        # Whether `validate: false` was declared.
        def unvalidated?(name) = model.association_reflection(name)[:validated] == false

        # Objects that are saved with this one.
        def nested_objects(name)
          [*associations[name], *@collections&.[](name)&.unsaved, @new_parents&.[](name)].compact.uniq.select { |other| other.new? || other.changed? || other.model.autosaved.any? }
        end
      end
    end
  end
end
