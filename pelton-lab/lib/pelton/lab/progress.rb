# frozen_string_literal: true

require "io/console"
require "pelton/clock"

module Pelton
  module Lab
    # Shows the current step and the remaining time: a bar on a terminal, otherwise an occasional line.
    class Progress
      WIDTH = 20
      # Seconds from one line to the next where the output is no terminal.
      INTERVAL = 10

      # @param clock [#call] returns seconds, see {Clock}
      # @param columns [Integer, nil] the width of the terminal; nil: as the terminal says
      def initialize(output, clock: Clock.method(:now), columns: nil)
        @output = output
        @clock = clock
        @columns = columns || ((output.respond_to?(:winsize) && output.tty? && output.winsize[1].nonzero?) || 100)
        @started = clock.call
        @next_line = @started
      end

      # @param share [Float] the finished share of all work, from 0 to 1
      def call(text, share)
        @output.tty? ? bar(text, share) : line(text, share)
      end

      def clear
        @output.print("\r\e[K") if @output.tty?
      end

      private

      def bar(text, share)
        full = (share * WIDTH).floor
        line = "[#{"=" * full}#{" " * (WIDTH - full)}] #{percent(share)}  #{text}"
        @output.print("\r\e[K#{line[0, @columns - 1]}")
      end

      def line(text, share)
        return if @clock.call < @next_line
        @next_line = @clock.call + INTERVAL
        @output.puts("#{percent(share)}  #{text}")
        @output.flush
      end

      def percent(share)
        "#{(share * 100).floor.to_s.rjust(3)} %#{left(share)}"
      end

      # An estimate, once it has some seconds to rest on.
      def left(share)
        past = @clock.call - @started
        return if past < 5 || share < 0.02
        minutes, seconds = (past / share - past).round.divmod(60)
        format(", %d:%02d left", minutes, seconds)
      end
    end
  end
end
