# frozen_string_literal: true

require_relative "tags"
require_relative "../../routes/words"

module Pelton
  module Web
    module Helpers
      # Text for people.
      module Text
        # Paragraphs: an empty line separates them, other line ends become `<br>`. The text is escaped.
        def simple_format(text)
          paragraphs = HTML.text(text).gsub(/\r\n?/, "\n").strip.split(/\n{2,}/)
          safe_join(paragraphs.map { |paragraph| tag(:p, safe_join(paragraph.split("\n"), HTML.new("\n<br>"))) }, "\n")
        end

        # @param length [Integer] maximum characters, with the omission
        # @param separator [String, nil] where the text may be cut: " " keeps words whole
        # @return [String] plain text, which templates escape
        def truncate(text, length: 30, omission: "…", separator: nil)
          text = HTML.text(text)
          return String.new(text) unless text.length > length
          room = [length - omission.length, 0].max
          cut = separator && text.rindex(separator, room)
          "#{text[0, (cut && cut > 0) ? cut : room]}#{omission}"
        end

        # A number and its noun.
        #
        #     pluralize(1, "reply") # => "1 reply"
        #     pluralize(2, "reply") # => "2 replies"
        #     pluralize(2, "person", "people") # => "2 people"
        #
        # @param count [Numeric, nil] nil is 0
        # @param plural [String, nil] for irregular plurals
        def pluralize(count, singular, plural = nil)
          count ||= 0
          "#{count} #{HTML.text((count == 1) ? singular : plural || Routes::Words.plural(singular))}"
        end
      end
    end
  end
end
