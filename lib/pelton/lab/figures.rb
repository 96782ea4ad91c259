# frozen_string_literal: true

module Pelton
  module Lab
    # How the reports write figures.
    module Figures
      module_function

      # @return [String] "-" for nil; what is next to nothing is 0, never -0
      def number(value, digits)
        value ? delimit(format("%.#{digits}f", value).sub(/\A-(?=[0.]+\z)/, "")) : "-"
      end

      # 1,234,567.891
      def delimit(number)
        whole, fraction = number.to_s.split(".")
        [whole.gsub(/(\d)(?=(\d{3})+$)/, "\\1,"), fraction].compact.join(".")
      end

      # With as many digits as tell something: 1,150, 17.2, 0.034.
      def short(value)
        return "-" unless value
        return "0" if value.zero?
        number(value, (2 - Math.log10(value.abs).floor).clamp(0, 3))
      end

      # 0.31 of another's time is 3.2 times as fast.
      def times(ratio)
        (ratio >= 0.1) ? format("%.1f", 1 / ratio) : delimit((1 / ratio).round)
      end

      # "7 rounds"
      def count(number, noun)
        "#{delimit(number)} #{noun}#{"s" unless number == 1}"
      end

      # "±8 %"; "±?" where nobody knows, "" for nothing to doubt.
      def doubt(share)
        return "±?" unless share
        share.zero? ? "" : "±#{(share * 100).ceil} %"
      end
    end
  end
end
