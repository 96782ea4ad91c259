# frozen_string_literal: true

module Pelton
  module Web
    module Test
      # Rails' assertions on the elements of the last response, by the gem rails-dom-testing, which is loaded on first
      # use.
      module Selecting
        # @!method assert_select(selector, *values)
        #   See Rails::Dom::Testing::Assertions::SelectorAssertions. Needs the assertions of Minitest or Test::Unit.
        #   @raise [ConfigurationError] if the gem is missing
        # @!method css_select(selector)
        #   See Rails::Dom::Testing::Assertions::SelectorAssertions.
        #   @raise [ConfigurationError] if the gem is missing
        %i[assert_select css_select].each do |name|
          define_method(name) do |*arguments, **options, &block|
            extend(Root, Selecting._assertions)

            public_send(name, *arguments, **options, &block)
          end
        end

        def self._assertions
          require "active_support"
          require "rails-dom-testing"
          Rails::Dom::Testing::Assertions::SelectorAssertions
        rescue LoadError
          raise ConfigurationError,
            "assert_select needs the gem rails-dom-testing: add gem \"rails-dom-testing\" to the Gemfile's group :test"
        end

        # The document that the gem's assertions search.
        # @private
        module Root
          private

          def document_root_element
            return @document.last if @document&.first.equal?(last_response)
            parser = defined?(Nokogiri::HTML5) ? Nokogiri::HTML5 : Nokogiri::HTML4
            @document = [last_response, parser.parse(last_response.body.dup.force_encoding(Encoding::UTF_8)).root]
            @document.last
          end
        end
        private_constant :Root
      end
    end
  end
end
