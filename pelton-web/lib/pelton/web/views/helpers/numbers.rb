# frozen_string_literal: true

module Pelton
  module Web
    module Helpers
      # Formats numbers. Text that is no number is returned unchanged, and nil as nil. The results are plain text, which
      # templates escape.
      module Numbers
        UNITS = %w[Bytes KB MB GB TB PB EB].freeze
        # Strings that count as numbers. Exponents are limited, because all digits are written.
        NUMERIC = /\A\s*[+-]?\d{1,400}(?:\.\d{0,400})?(?:e[+-]?\d{1,3})?\s*\z/i
        private_constant :UNITS, :NUMERIC

        class << self
          # Decimals as written: 1.005 rounds to 1.01, though the nearest Float is smaller.
          def _exact(number)
            return number if number.is_a?(Rational)
            text = number.to_s
            Rational(text) if (number.is_a?(Numeric) || number.is_a?(String)) && HTML.text(text).match?(NUMERIC)
          end

          def _decimal(value, precision)
            rounded = value.round(precision, half: :up)
            return rounded.to_i.to_s if precision <= 0
            digits = (rounded.abs * 10**precision).to_i.to_s.rjust(precision + 1, "0")
            "#{"-" if rounded.negative?}#{digits[0...-precision]}.#{digits[-precision..]}"
          end

          def _delimited(text, delimiter, separator)
            whole, fraction = text.split(".")
            [whole.gsub(/(\d)(?=(?:\d{3})+\z)/) { "#{$1}#{delimiter}" }, fraction].compact.join(separator)
          end
        end

        # @return [String] 1234567.5 as "1,234,567.5"
        def number_with_delimiter(number, delimiter: ",", separator: ".")
          Numbers._exact(number) or return number
          Numbers._delimited(number.to_s.match?(/e/i) ? Numbers._decimal(Numbers._exact(number), 0) : number.to_s.strip,
            delimiter, separator)
        end

        # @param precision [Integer] digits after the separator; halves round up
        # @return [String] 2.5 as "2.500"
        def number_with_precision(number, precision: 3, delimiter: "", separator: ".")
          value = Numbers._exact(number) or return number
          Numbers._delimited(Numbers._decimal(value, precision), delimiter, separator)
        end

        # @return [String] 1234.5 as "$1,234.50"
        def number_to_currency(number, unit: "$", precision: 2, delimiter: ",", separator: ".")
          value = Numbers._exact(number) or return number
          sign = "-" if Numbers._decimal(value, precision).start_with?("-")
          amount =
            number_with_precision(value.abs, precision: precision, delimiter: delimiter, separator: separator)
          "#{sign}#{unit}#{amount}"
        end

        # @return [String] 12.345 as "12.3%"
        def number_to_percentage(number, precision: 1, delimiter: "", separator: ".")
          if Numbers._exact(number)
            "#{number_with_precision(number, precision: precision, delimiter: delimiter, separator: separator)}%"
          else
            number
          end
        end

        # @param number [Numeric] bytes
        # @return [String] with three significant digits: 1536 as "1.5 KB"
        def number_to_human_size(number, separator: ".")
          value = Numbers._exact(number) or return number
          power = 0
          power += 1 while value.abs / 1024**power >= 1024 && power < UNITS.size - 1
          size = value / 1024**power
          text = Numbers._decimal(size, power.zero? ? 0 : [2 - Math.log10([size.abs, 1].max).floor, 0].max)
          text = text.sub(/\.?0+\z/, "") if text.include?(".")
          "#{text.sub(".", separator)} #{(power.zero? && text == "1") ? "Byte" : UNITS[power]}"
        end
      end
    end
  end
end
