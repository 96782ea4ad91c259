# frozen_string_literal: true

module Pelton
  module Lab
    # How the reports write numbers.
    module NumberFormat
      module_function

      # @return [String] "-" for nil; a value that rounds to zero has no sign
      def number(value, digits)
        value ? delimit(format("%.#{digits}f", value).sub(/\A-(?=[0.]+\z)/, "")) : "-"
      end

      # 1,234,567.891
      def delimit(number)
        whole, fraction = number.to_s.split(".")
        [whole.gsub(/(\d)(?=(\d{3})+$)/, "\\1,"), fraction].compact.join(".")
      end

      # With three significant digits: 1,150, 17.2, 0.034.
      def short(value)
        return "-" unless value
        return "0" if value.zero?
        number(value, (2 - Math.log10(value.abs).floor).clamp(0, 3))
      end

      # How many times as fast as another: a ratio of 0.31 of its time is 3.2 times as fast.
      def speed(ratio)
        speed = 1 / ratio.to_f
        number(speed, [2, 10].count { |limit| speed < limit })
      end

      # "7 rounds"
      def count(number, noun)
        "#{delimit(number)} #{noun}#{"s" unless number == 1}"
      end

      # "±8 %"; "±?" for nil, "" for zero.
      # @param share [Float, nil]
      def spread(share)
        return "±?" unless share
        share.zero? ? "" : "±#{(share * 100).ceil} %"
      end
    end
  end
end
