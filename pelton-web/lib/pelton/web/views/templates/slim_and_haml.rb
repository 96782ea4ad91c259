# frozen_string_literal: true

require_relative "../html"

module Pelton
  module Web
    class Templates
      # Slim, and Haml from version 6, are based on the gem temple. They escape everything but {HTML}, and append to the
      # view's output, so that helpers with blocks, `cache` and `flush` work as in ERB.
      # @private
      module SlimAndHaml
        class << self
          def ===(type) = defined?(::Temple::Templates::Tilt) && type < ::Temple::Templates::Tilt

          # @return [Hash{Symbol => Object}] options for the template
          def options(escape)
            {generator: generator, buffer: "@_out", disable_capture: true,
             escape_code: "::Pelton::Web::HTML.escape((%s))", disable_escape: !escape}
          end

          private

          # The generated code neither creates nor returns its own String. Temple requires a named class.
          def generator
            return const_get(:Generator) if const_defined?(:Generator, false)
            const_set(:Generator,
              Class.new(::Temple::Generator) { define_method(:on_dynamic) { |code| concat("(#{code}).to_s") } })
          end
        end
      end
    end
  end
end
