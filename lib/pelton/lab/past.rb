# frozen_string_literal: true

module Pelton
  module Lab
    # Figures that somebody else published of the same question: they stand beside today's.
    class Past
      # Seconds, as Ruby's Benchmark prints them; nil what was not told.
      Row = Struct.new(:name, :style, :user, :system, :real) do
        def total
          user + system if user && system
        end
      end

      attr_reader :title, :source, :size, :pin, :rows

      # @param source [String] who, when and where
      # @param size [Integer, nil] how much work it was: today's times are scaled to it
      # @param pin [Symbol, nil] the pinning beside which it stands; nil: each
      def initialize(title, source:, size: nil, pin: nil, &rows)
        @title = title
        @source = source
        @size = size
        @pin = pin
        @rows = []
        instance_eval(&rows)
      end

      # Declares a figure; the first one is what the others are compared with.
      # @param real [Numeric] seconds
      def row(name, real:, style: "", user: nil, system: nil)
        @rows << Row.new(name, style, user, system, real)
      end

      # A row's time by the first one's.
      def ratio(row)
        row.real / rows.first.real.to_f
      end
    end
  end
end
