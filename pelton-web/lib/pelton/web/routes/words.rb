# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # Singulars and plurals of English words, by rule. Where a rule is wrong, use `as:` and `controller:`.
      module Words
        class << self
          def singular(word)
            case word
            when /ies\z/ then word.sub(/ies\z/, "y")
            when /(?:ss|x|ch|sh)es\z/ then word.delete_suffix("es")
            when /(?:ss|us|is)\z/ then word
            else word.delete_suffix("s")
            end
          end

          def plural(word)
            case word
            when /[^aeiou]y\z/ then word.sub(/y\z/, "ies")
            when /(?:s|x|ch|sh)\z/ then "#{word}es"
            else "#{word}s"
            end
          end
        end
      end
    end
  end
end
