# frozen_string_literal: true

require_relative "programs"

module Pelton
  module Lab
    # One way to do a race's work.
    class Contender
      # Seconds of round trips that a round may take at a high latency.
      LONGEST_WAIT = 0.2

      attr_reader :name, :style, :gem, :program, :at_most, :round_trips, :baseline, :instead_of, :extra, :work

      # @param style [String] how it is written: "blocking", "callback", "deferrable", "direct" ...
      # @param gem [String, nil] the library that it needs; where that is not installed, the contender is skipped and
      #   named
      # @param with [Array<String>] further gems that it needs, likewise
      # @param program [String, nil] the program that it needs ("node"), likewise
      # @param at_most [Integer, nil] the largest size: one operation at a time needs no more for its time per operation
      # @param round_trips [Numeric, nil] round trips, one after the other, for each unit of size: a high latency
      #   reduces the size so that they take {LONGEST_WAIT} seconds a round
      # @param baseline [Boolean] whether the others are compared with it
      # @param instead_of [String, nil] a contender that it replaces where that one is not installed
      # @param extra [Boolean] takes part with `--peers` only
      # @param rounds [Integer, nil] the first rounds in which it takes part, where no verdict depends on it; `--full`
      #   and `--rounds` override it
      def initialize(name, style: "", gem: nil, with: [], program: nil, at_most: nil, round_trips: nil,
        baseline: false, instead_of: nil,
        extra: false, rounds: nil, &work)
        @name = name
        @style = style
        @gem = gem
        @with = with
        @program = program
        @round_trips = round_trips
        @at_most = at_most
        @baseline = baseline
        @instead_of = instead_of
        @extra = extra
        @rounds = rounds
        @work = work
      end

      # Whether it is a competitor: another library or program, and none of Pelton's own gems.
      def peer?
        !(gem || program).nil? && !gem.to_s.start_with?("pelton-") && !baseline
      end

      # The reason why it cannot run here, or nil.
      def unavailable
        return "#{program} is not installed" if program && !version
        missing = [*gem, *@with].find { |name| !version_of(name) }
        "the gem #{missing} is not installed (pelton lab --install-peers)" if missing
      end

      # The installed version of its library or program, or nil.
      def version
        program ? Programs.version(program) : gem && version_of(gem)
      end

      # The number of its rounds in a race of so many.
      def rounds(rounds, all: false)
        all ? rounds : [rounds, @rounds].compact.min
      end

      # Its size in a race of that size, within its bounds.
      # @param latency [Numeric, nil] milliseconds
      def size(size, latency: nil, full: false)
        size = [size, at_most].min if at_most && !full
        return size unless round_trips && latency&.positive?
        (LONGEST_WAIT * 1000 / (round_trips * latency)).floor.clamp(1, size)
      end

      private

      def version_of(gem)
        Gem::Specification.find_by_name(gem).version.to_s
      rescue Gem::MissingSpecError
        nil
      end
    end
  end
end
