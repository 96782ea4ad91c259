# frozen_string_literal: true

module Pelton
  module Record
    # Objects that were loaded together load an association together, at its first use: no N+1 queries. (Sequel's plugin
    # tactical_eager_loading, made safe for fibers.)
    module Together
      private

      # A fiber that needs what another one loads right now waits for it, and then finds it.
      def load_associated_objects(reflection, options = Sequel::OPTS, &block)
        name = reflection[:name]
        return super if associations.include?(name) && (options == true || options.empty?)
        Turns.take(retrieved_with || self, name) { super }
      end
    end
  end
end
