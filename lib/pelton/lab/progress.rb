# frozen_string_literal: true

require "io/console"
require_relative "../clock"

module Pelton
  module Lab
    # A bar on a terminal, with what is being done and how long it will take; nothing where the output is no terminal.
    class Progress
      WIDTH = 20

      # @param clock [#call] seconds that pass
      def initialize(output, clock: Clock.method(:now), columns: nil)
        @output = output.tty? ? output : nil
        @clock = clock
        @columns = columns || ((@output.respond_to?(:winsize) && @output.winsize[1].nonzero?) || 100)
        @started = clock.call
      end

      # @param share [Float] how much of all is done, from 0 to 1
      def call(text, share)
        full = (share * WIDTH).floor
        line = "[#{"=" * full}#{" " * (WIDTH - full)}] #{(share * 100).floor.to_s.rjust(3)} %#{left(share)}  #{text}"
        @output&.print("\r\e[K#{line[0, @columns - 1]}")
      end

      def clear
        @output&.print("\r\e[K")
      end

      private

      # A guess that needs some seconds behind it.
      def left(share)
        past = @clock.call - @started
        return if past < 5 || share < 0.02
        minutes, seconds = (past / share - past).round.divmod(60)
        format(", %d:%02d left", minutes, seconds)
      end
    end
  end
end
