# frozen_string_literal: true

module Pelton
  module Lab
    # What is said of a row of numbers: never a mean, which one bad round moves.
    module Statistics
      # The middle value; between two middle ones, half way. nil of nothing.
      def self.median(values)
        return if values.empty?
        sorted = values.sort
        middle = sorted.size / 2
        sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
      end
    end
  end
end
