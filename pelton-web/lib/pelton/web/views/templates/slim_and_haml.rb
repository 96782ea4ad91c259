# frozen_string_literal: true

require_relative "../html"

module Pelton
  module Web
    class Templates
      # Slim and Haml (from version 6) stand on the gem temple. They escape everything but {HTML}, and append to the text that the view is
      # collecting, so that helpers with blocks, `cache` and `flush` do what they do in ERB.
      # @private
      module SlimAndHaml
        class << self
          def ===(type) = defined?(::Temple::Templates::Tilt) && type < ::Temple::Templates::Tilt

          # @return [Hash{Symbol => Object}] options of the template
          def options(escape)
            {generator: generator, buffer: "@_out", disable_capture: true, escape_code: "::Pelton::Web::HTML.escape((%s))", disable_escape: !escape}
          end

          private

          # The code neither makes a text of its own nor returns one. Temple wants a class with a name.
          def generator
            return const_get(:Generator) if const_defined?(:Generator, false)
            const_set(:Generator, Class.new(::Temple::Generator) { define_method(:on_dynamic) { |code| concat("(#{code}).to_s") } })
          end
        end
      end
    end
  end
end
