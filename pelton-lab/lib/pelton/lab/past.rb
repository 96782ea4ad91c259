# frozen_string_literal: true

module Pelton
  module Lab
    # Published results of the same work, to compare with today's.
    class Past
      # Seconds, as Ruby's Benchmark prints them; nil for a time that was not published.
      Row = Struct.new(:name, :style, :user, :system, :real) do
        def total
          user + system if user && system
        end
      end

      attr_reader :title, :source, :size, :pin, :rows

      # @param source [String] the author, the year, the setting
      # @param size [Integer, nil] the amount of work, to which today's times are scaled
      # @param pin [Symbol, nil] the pinning to compare with; nil for any
      def initialize(title, source:, size: nil, pin: nil, &rows)
        @title = title
        @source = source
        @size = size
        @pin = pin
        @rows = []
        instance_eval(&rows)
      end

      # Declares a result; the first one is the baseline of the others.
      # @param real [Numeric] seconds
      def row(name, real:, style: "", user: nil, system: nil)
        @rows << Row.new(name, style, user, system, real)
      end

      # The ratio of a row's time to the first one's.
      def ratio(row)
        row.real / rows.first.real.to_f
      end
    end
  end
end
