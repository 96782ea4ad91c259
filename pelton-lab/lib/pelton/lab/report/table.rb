# frozen_string_literal: true

module Pelton
  module Lab
    # Text in columns: words aligned to the left, numbers to the right. A gem could do it, but the lab must work from
    # the installed gem alone, and needs no more than this.
    class Table
      # @param columns [Array<String>] titles; one that begins with a space is a column of numbers
      def initialize(*columns)
        @titles = columns
        @rows = []
      end

      def add(*cells)
        @rows << cells.map(&:to_s)
      end

      def to_s
        lines = [@titles.map(&:strip), *@rows]
        widths = lines.transpose.map { |cells| cells.map(&:length).max }
        lines.map do |cells|
          cells.zip(widths, @titles).map { |cell, width, title| align(cell, width, title) }.join("  ").rstrip
        end.join("\n")
      end

      private

      def align(cell, width, title)
        title.start_with?(" ") ? cell.rjust(width) : cell.ljust(width)
      end
    end
  end
end
