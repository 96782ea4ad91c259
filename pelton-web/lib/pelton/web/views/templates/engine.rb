# frozen_string_literal: true

require "erubi"
require_relative "../html"

module Pelton
  module Web
    class Templates
      # ERB whose code appends to `@_out`, the view's output, and whose expressions may have a block:
      #
      #     <%= form_with(url: "/posts") do |form| %> ... <% end %>
      #
      # @private
      class Engine < Erubi::Engine
        BLOCK = /(?:\bdo|\{)\s*(?:\|[^|]*\|)?\s*\z/

        def initialize(input, properties = {})
          super(input, properties.merge(bufvar: "@_out", preamble: " ", postamble: "nil\n",
            ensure: false, chain_appends: true,
            escapefunc: "::Pelton::Web::HTML.escape"))
        end

        private

        # A call with an open block cannot be in parentheses, but can follow an assignment.
        def add_expression(indicator, code)
          return super unless BLOCK.match?(code)
          terminate_expression
          @buffer_on_stack = false
          @src << "self.#{((indicator == "=") ^ @escape) ? "_appended" : "_escaped"} = #{code};"
        end
      end
    end
  end
end
