# frozen_string_literal: true

require "pelton"
require "active_support"
require "active_support/core_ext/class/subclasses"
require "active_support/current_attributes"

module Pelton
  module Rails
    # Gives tasks a copy of their spawner's `Current`.
    # @private
    module CurrentAttributes
      # @return [Proc] runs a task's block with the calling fiber's values
      def self.carry
        carried = ::ActiveSupport::CurrentAttributes.descendants.to_h do |current|
          [current, current.instance.attributes.compact]
        end
        ->(block) do
          carried.reduce(block) { |inner, (current, values)| -> { current.set(values) { inner.call } } }.call
        end
      end

      Inherited.carry { carry }
    end
  end
end
