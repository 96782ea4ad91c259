# frozen_string_literal: true

module Pelton
  module Web
    module Test
      # Assertions on the elements of the last response, by the gem nokogiri.
      module Selecting
        # The elements of the last response, or of those that a block of {#assert_select} is about.
        #
        # @param selector [String] of CSS
        # @raise [ConfigurationError] the gem is missing
        def css_select(selector) = (@selected || [document]).flat_map { |node| node.css(selector).to_a }.uniq

        # Fails unless the last response has such elements. It needs Minitest's or Test::Unit's assertions.
        #
        #     assert_select "h1", "Posts"
        #     assert_select "li.post", 3
        #     assert_select "form input[name=?]", "post[title]"
        #     assert_select "a", text: /Next/, count: 1
        #     assert_select "ul" do
        #       assert_select "li", minimum: 1
        #     end
        #
        # @param selector [String] of CSS; a `?` stands for the next value, in quotes
        # @param values [Array] for the selector; then what is expected: a String or Regexp is the text of such an element, an Integer or a Range their number,
        #   false: none
        # @param text [String, Regexp, nil] spaces count once, and not at the ends
        # @param count [Integer, Range, nil]
        # @param minimum [Integer, nil]
        # @param maximum [Integer, nil]
        # @yieldparam elements [Array<Nokogiri::XML::Element>] assertions within the block are about these
        def assert_select(selector, *values, text: nil, count: nil, minimum: nil, maximum: nil, &block)
          selector = selector.gsub("?") { values.empty? ? raise(ArgumentError, "no value for a ? in #{selector}") : "\"#{values.shift.to_s.gsub(/["\\\n]/) { |one| "\\#{one.ord.to_s(16)} " }}\"" }
          raise ArgumentError, "assert_select expects one thing, not #{values.inspect}" if values.size > 1
          case values.first
          when String, Regexp then text = values.first
          when Integer, Range then count = values.first
          when false then count = 0
          when nil, true then nil
          else raise ArgumentError, "assert_select expects a text, a number or false, not #{values.first.inspect}"
          end
          numbers = number_of_elements(count, minimum, maximum)
          all = css_select(selector)
          found = text ? all.select { |element| text === element.text.gsub(/[[:space:]]+/, " ").strip } : all
          assert numbers.cover?(found.size), "#{numbers} elements #{selector}#{" with the text #{text.inspect}" if text} were expected, and #{found.size} are there" \
            "#{"; their texts are #{all.first(10).map { |element| element.text.strip[0, 60] }.inspect}" if text && all.any?}: #{last_response.body[0, 500]}"
          within(found, &block) if block
          found
        end

        private

        def number_of_elements(count, minimum, maximum)
          return count.is_a?(Range) ? count : count..count if count
          (minimum || (maximum ? 0 : 1))..maximum
        end

        def within(elements)
          before, @selected = @selected, elements
          yield elements
        ensure
          @selected = before
        end

        def document
          require "nokogiri"
          return @document.last if @document&.first.equal?(last_response)
          parser = defined?(Nokogiri::HTML5) ? Nokogiri::HTML5 : Nokogiri::HTML4
          @document = [last_response, parser.parse(last_response.body.dup.force_encoding(Encoding::UTF_8))]
          @document.last
        rescue LoadError
          raise ConfigurationError, "assert_select needs the gem nokogiri: add gem \"nokogiri\" to the Gemfile's group :test"
        end
      end
    end
  end
end
