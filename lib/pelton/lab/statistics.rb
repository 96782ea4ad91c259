# frozen_string_literal: true

module Pelton
  module Lab
    # What is said of a row of numbers: never a mean, which one bad round moves.
    module Statistics
      DRAWS = 400

      # The middle value; between two middle ones, half way. nil of nothing.
      def self.median(values)
        return if values.empty?
        sorted = values.sort
        middle = sorted.size / 2
        sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
      end

      # How differently another run may come out: 0.08 says that its ratio of medians will be within 8 % of this one's in
      # most cases. The rounds are drawn anew, with repetition, some hundred times (the bootstrap), each round's values
      # together, as they shared what disturbed them; two runs differ by the square root of two times what one may be off.
      # @param values [Array<Numeric>] round by round
      # @param base [Array<Numeric>, nil] the baseline's in the same rounds; nil: the values alone
      # @return [Float, nil] nil where fewer than three rounds or a median of zero allow no answer
      def self.doubt(values, base = nil)
        rounds = [values.size, base&.size].compact.min
        return if rounds < 3
        ratio = ->(drawn) { median(values.values_at(*drawn)) / (base ? median(base.values_at(*drawn)) : 1).to_f }
        mine = ratio.call([*0...rounds])
        return unless mine.finite? && mine > 0
        random = Random.new(rounds) # the same figures are to give the same answer
        drawn = Array.new(DRAWS) { ratio.call(Array.new(rounds) { random.rand(rounds) }) }.sort
        Math.sqrt(2) * [drawn[-1 - DRAWS / 20] / mine - 1, 1 - drawn[DRAWS / 20] / mine].max
      end
    end
  end
end
