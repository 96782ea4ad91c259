# frozen_string_literal: true

require "pelton/database"

module Sequel
  module Plugins
    # Objects that were loaded together load an association together, at its first use: no N+1 queries. It is Sequel's plugin
    # tactical_eager_loading, made safe for fibers that use such objects at once.
    #
    #     Album.plugin :pelton_together
    module PeltonTogether
      # @private
      def self.apply(model) = model.plugin(:tactical_eager_loading)

      module InstanceMethods
        private

        # A fiber that needs what another one loads right now waits for it, and then finds it. While it is loaded, Sequel has
        # empty associations in its place.
        def load_associated_objects(reflection, options = OPTS, &block)
          name = reflection[:name]
          return super if loaded_together?(name) && (options == true || options.empty?)
          load_together(name) { super }
        end

        def loaded_together?(name) = associations.key?(name) && Pelton::Database::Turns.free?(retrieved_with || self, name)

        # What a load that fails leaves behind would look like an answer.
        def load_together(name)
          together = retrieved_with || [self]
          Pelton::Database::Turns.take(retrieved_with || self, name) do
            missing = together.reject { |record| record.associations.key?(name) }
            yield.tap { missing = nil }
          ensure
            missing&.each { |record| record.associations.delete(name) }
          end
        end
      end
    end
  end
end
