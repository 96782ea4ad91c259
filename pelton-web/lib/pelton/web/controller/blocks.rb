# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # A controller whose actions are the blocks of routes. The String that a block returns is sent as plain text: as
      # text/html it would run scripts that users have written.
      module Blocks
        # @return [Symbol] the action's name
        def add(block)
          name = :"route_#{@blocks = (@blocks || 0) + 1}"
          define_method(name, &block)
          public name
          name
        end

        private

        def call_code(action)
          code = "value = #{action}"
          return code unless plain?(action)
          "#{code}\nreturn ::Pelton::Web::Response.plain(value) if value.is_a?(String) && !(#{parts.join(" || ")})"
        end

        def default_code(action) = "value.is_a?(String) ? response.text(value) : answer_by_default(:#{action})"

        # Whether only before filters run with the action. Then its text is the complete response, unless the block or a
        # filter has used the response or another module.
        def plain?(action)
          finishers.all?(&:last) && filters.all? { |filter| filter.kind == :before || !filter.for?(action) }
        end

        def parts = ["@response", *finishers.map(&:last)]
      end
    end
  end
end
