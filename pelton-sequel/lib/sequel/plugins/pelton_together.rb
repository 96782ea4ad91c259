# frozen_string_literal: true

require "pelton/sequel"

module Sequel
  module Plugins
    # Loads an association for all objects of a result set at its first use, which avoids N+1 queries. This is Sequel's
    # plugin tactical_eager_loading, made safe for fibers that use the same objects concurrently.
    #
    #     Album.plugin :pelton_together
    module PeltonTogether
      # @private
      def self.apply(model) = model.plugin(:tactical_eager_loading)

      module InstanceMethods
        private

        # A fiber that needs an association that another one is loading waits for it: meanwhile Sequel has empty
        # associations in its place.
        def load_associated_objects(reflection, options = OPTS, &block)
          name = reflection[:name]
          return super if loaded_together?(name) && (options == true || options.empty?)
          load_together(name) { super }
        end

        def loaded_together?(name)
          associations.key?(name) && ::Pelton::Sequel::Turns.free?(retrieved_with || self, name)
        end

        # A failed load must not leave empty associations, which would look like a result.
        def load_together(name)
          together = retrieved_with || [self]
          ::Pelton::Sequel::Turns.take(retrieved_with || self, name) do
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
