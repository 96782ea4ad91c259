# frozen_string_literal: true

require "optparse"

module Pelton
  module Lab
    # What the command line asks for. nil: as the experiment says.
    class Options
      attr_reader :names, :pins, :rounds, :size, :peers, :seed, :deadline, :json

      # @raise [UsageError]
      def initialize(arguments = [])
        @seed = Random.new_seed % 1_000_000
        @deadline = 60
        @names = parser.parse(arguments)
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      # @return [Boolean] whether only help was asked for
      def help?
        @help
      end

      def to_h
        {pins:, rounds:, size:, peers:, seed:, deadline:}
      end

      # The text of `--help`.
      def usage
        parser.help
      end

      private

      def parser
        OptionParser.new do |parser|
          parser.banner = <<~TEXT
            usage: pelton lab [EXPERIMENT | FILE.rb ...] [options]

            Measures what asynchronous code costs and gains, each contender in a fresh process, answers checked.
            Without a name: lists the experiments and runs them all, in about two minutes.

          TEXT
          parser.on("--pin same|apart", %w[same apart], "client and server on one core, or on two (default: as the race says)") { |pin| @pins = [pin.to_sym] }
          parser.on("--rounds N", Integer, "timed rounds (default: as the race says, mostly 7)") { |n| @rounds = positive(n) }
          parser.on("--size N", Integer, "the size of each round, for every contender") { |n| @size = positive(n) }
          parser.on("--[no-]peers", "all other libraries, or none (default: what two minutes allow)") { |peers| @peers = peers }
          parser.on("--deadline SECONDS", Float, "end a contender that takes longer (default: #{@deadline})") { |seconds| @deadline = positive(seconds) }
          parser.on("--seed N", Integer, "of the order in a round (default: random, it is reported)") { |n| @seed = n }
          parser.on("--json FILE", "write all figures there, too") { |path| @json = path }
          parser.on("-h", "--help", "print this") { @help = true }
        end
      end

      def positive(number)
        raise OptionParser::InvalidArgument, "must be more than 0" unless number > 0
        number
      end
    end
  end
end
