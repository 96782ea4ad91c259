# frozen_string_literal: true

require_relative "programs"

module Pelton
  module Lab
    # One way to do a race's work.
    class Contender
      # Keyword `style` says how it is written: "blocking", "callback", "deferrable", "direct" ...
      # Keyword `gem` names the library that it needs: where that is not installed, it is skipped and named.
      # Keyword `at_most` bounds its size: what does one operation at a time needs no more for its time per operation.
      # Keyword `round_trips` says how many it takes, one after the other, for each unit of size: on a long line that bounds
      # its size to {PATIENCE} seconds a round.
      # Keyword `program` names a program that it needs ("node"), as `gem` does a library.
      # Keyword `instead_of` names a contender in whose place it stands where that one is not installed.
      # Keyword `extra` keeps it out unless `--peers` asks for all.
      # Keyword `rounds` says how many it takes part in, where no verdict rests on it, unless `--full` or `--rounds` says otherwise.
      PATIENCE = 0.2

      attr_reader :name, :style, :gem, :program, :at_most, :round_trips, :baseline, :instead_of, :extra, :work

      def initialize(name, style: "", gem: nil, program: nil, at_most: nil, round_trips: nil, baseline: false, instead_of: nil,
        extra: false, rounds: nil, &work)
        @name = name
        @style = style
        @gem = gem
        @program = program
        @round_trips = round_trips
        @at_most = at_most
        @baseline = baseline
        @instead_of = instead_of
        @extra = extra
        @rounds = rounds
        @work = work
      end

      # Whether it is another library, there to be compared with.
      def peer?
        !(gem || program).nil? && !baseline
      end

      # Why it cannot run here, or nil.
      def unavailable
        return if version || !(gem || program)
        gem ? "the gem #{gem} is not installed (pelton lab --install-peers)" : "#{program} is not installed"
      end

      # The installed version of its library or program, or nil.
      def version
        return Programs.version(program) if program
        Gem::Specification.find_by_name(gem).version.to_s if gem
      rescue Gem::MissingSpecError
        nil
      end

      # Its rounds in a race of so many.
      def rounds(rounds, all: false)
        all ? rounds : [rounds, @rounds].compact.min
      end

      # Its size in a race of that size: what it may do, and on a long line no more than it can in a while.
      # @param latency [Numeric, nil] milliseconds
      def size(size, latency: nil, full: false)
        size = [size, at_most].min if at_most && !full
        return size unless round_trips && latency&.positive?
        (PATIENCE * 1000 / (round_trips * latency)).floor.clamp(1, size)
      end
    end
  end
end
