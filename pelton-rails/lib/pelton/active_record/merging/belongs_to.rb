# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    module Merging
      # Loads the object of a belongs_to association by a find that may be merged, if its model includes {Merging}.
      # @private
      module BelongsTo
        def self.install = ::ActiveRecord::Associations::BelongsToAssociation.prepend(self)

        private

        def find_target(...)
          return super unless Merging.wanted?(klass) && plain?
          column, key = reflection.join_primary_key(klass), owner.read_attribute(reflection.foreign_key)
          return super unless klass.unique_columns.include?(column)
          found = Merging.find(klass, column, key) { return super }
          found.strict_loading!(false, mode: owner.strict_loading_mode)
          set_inverse_instance(found)
        end

        # Whether the row is found by its key alone, and nothing forbids to load it.
        def plain?
          !reflection.scope && !reflection.foreign_key.is_a?(Array) && !owner.strict_loading? &&
            !reflection.strict_loading?
        end
      end
    end
  end
end
