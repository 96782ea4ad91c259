# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # A controller whose actions are the blocks of routes. The String that a block returns is its answer, as plain text: text/html
      # would run scripts that a user has written.
      module Blocks
        # @return [Symbol] the name of the action
        def add(block)
          name = :"route_#{@blocks = (@blocks || 0) + 1}"
          define_method(name, &block)
          public name
          name
        end

        private

        def call_code(action) = "value = #{action}#{"\nreturn ::Pelton::Web::Response.plain(value) if value.is_a?(String) && !(#{parts.join(" || ")})" if plain?(action)}"

        def default_code(action) = "value.is_a?(String) ? response.text(value) : answer_by_default(:#{action})"

        # Whether nothing but before filters runs beside the action. Then text is the whole of the answer, unless the block, or a filter, has
        # asked for the response or for another part.
        def plain?(action) = finishers.all?(&:last) && filters.all? { |filter| filter.kind == :before || !filter.for?(action) }

        def parts = ["@response", *finishers.map(&:last)]
      end
    end
  end
end
