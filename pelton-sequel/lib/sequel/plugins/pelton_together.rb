# frozen_string_literal: true

module Pelton
  module Record
    # Objects that were loaded together load an association together, at its first use: no N+1 queries. (Sequel's plugin
    # tactical_eager_loading, made safe for fibers.)
    module Together
      private

      # A fiber that needs what another one loads right now waits for it, and then finds it. While it is loaded, Sequel has
      # empty associations in its place.
      def load_associated_objects(reflection, options = Sequel::OPTS, &block)
        name = reflection[:name]
        return super if loaded_together?(name) && (options == true || options.empty?)
        load_together(name) { super }
      end

      def loaded_together?(name) = associations.key?(name) && Turns.free?(retrieved_with || self)

      # A scope that depends on the object is asked for each object when it is needed.
      def _filter_tactical_eager_load_objects(options)
        model.association_reflection(options[:name])[:owner_scope] ? super & [self] : super
      end

      def load_by_itself(name)
        reflection = model.association_reflection(name)
        found = _load_associated_objects(reflection)
        Array(found).each { |other| other.associations[reflection.reciprocal] = self } if %i[one_to_many one_to_one].include?(reflection[:type]) && reflection.reciprocal
        associations[name] = found
      end

      # What a load that fails leaves behind would look like an answer.
      def load_together(name)
        together = retrieved_with || [self]
        Turns.take(retrieved_with || self, name) do
          missing = together.reject { |record| record.associations.key?(name) }
          yield.tap { missing = nil }
        ensure
          missing&.each { |record| record.associations.delete(name) }
        end
      end
    end
  end
end
