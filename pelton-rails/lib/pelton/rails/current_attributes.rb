# frozen_string_literal: true

require "pelton"
require "active_support"
require "active_support/current_attributes"

module Pelton
  module Rails
    # Tasks have a copy of the `Current` of the code that spawned them.
    # @private
    module CurrentAttributes
      KEY = :current_attributes_instances
      private_constant :KEY

      class << self
        # The function that runs a task's block with what the calling fiber has now.
        def carry
          carried = copy
          lambda do |block|
            before, state[KEY] = state[KEY], carried
            block.call
          ensure
            state[KEY] = before
          end
        end

        private

        def state = ::ActiveSupport::IsolatedExecutionState

        def copy = state[KEY]&.transform_values { |one| one.dup.tap { |copy| copy.attributes = one.attributes.dup } }
      end

      Inherited.carry { carry }
    end
  end
end
