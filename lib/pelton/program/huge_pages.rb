# frozen_string_literal: true

module Pelton
  # Joins the small pages of a program's memory into huge ones, where Linux can
  # (docs/internals/adr/062-huge-pages.md).
  # @private
  module HugePages
    # Seconds before each pass: a program gets most of its memory while it loads, and more while it warms up.
    PAUSES = [0, 3, 10, 30, 100, 300, 1000].freeze

    # Joins what the program has now, and what it has in a while, on another thread.
    #
    # @param pauses [Array<Numeric>] seconds before each pass
    # @asynchronous
    def self.join_while_memory_grows(pauses: PAUSES)
      pauses.each do |seconds|
        sleep(seconds)
        Pelton.offload { _join }
      end
    end
  end
  private_constant :HugePages
end
