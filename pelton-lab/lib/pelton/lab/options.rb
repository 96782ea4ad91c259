# frozen_string_literal: true

require "optparse"
require "shellwords"

module Pelton
  module Lab
    # The options of the command line. nil: as the experiment says.
    class Options
      attr_reader :names, :race, :pins, :rounds, :size, :full, :latencies, :peers, :server, :seed, :json, :html,
        :check, :arguments

      # @raise [UsageError]
      def initialize(arguments = [])
        @seed = Random.new_seed % 1_000_000
        @arguments = arguments.dup
        @names = parser.parse(arguments)
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      # @return [Boolean] whether to print help, and nothing else
      def help?
        @help
      end

      # @return [Boolean] whether to list the experiments, and nothing else
      def list?
        @list
      end

      # @return [Boolean] whether to install the missing competitors, and nothing else
      def install_peers?
        @install_peers
      end

      # @return [Numeric] seconds that a contender may take for a round
      def deadline
        @deadline || (full ? 600 : 60)
      end

      def to_h
        {names:, race:, pins:, rounds:, size:, full:, latencies:, peers:, server:, seed:, deadline:}
      end

      # The command line that repeats this run, with the same order of its rounds.
      def command
        again = arguments.reject { |argument| argument == "--check" }
        again += ["--seed", seed.to_s] unless again.any? { |argument| argument.start_with?("--seed") }
        ["pelton", "lab", *again].shelljoin
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
            Without a name: lists the experiments and runs those that need not be named, in about two minutes.

          TEXT
          parser.on("--full", "the sizes of the articles, for every contender (default: what two minutes allow)") do
            @full = true
          end
          parser.on("--race TEXT", "only the races whose names contain this text") { |text| @race = text }
          parser.on("--pin same|apart|free", %w[same apart free],
            "client and server on one core, on two, or anywhere (default: as the race says)") do |pin|
              @pins = [pin.to_sym]
            end
          parser.on("--rounds N", Integer, "timed rounds (default: as the race says, mostly 7)") do |n|
            @rounds = positive(n)
          end
          parser.on("--size N", Integer, "the size of each round, for every contender") { |n| @size = positive(n) }
          parser.on("--latency MS,...", Array, "milliseconds of round trip, for races with a latency sweep (0: " \
            "direct)") do |all|
            @latencies = all.map { |one| latency(one) }
          end
          parser.on("--server HOST:PORT", "a memcached to use (default: one of the lab's own)") do |address|
            @server = address
          end
          parser.on("--[no-]peers", "all other libraries, or none (default: what two minutes allow)") do |peers|
            @peers = peers
          end
          parser.on("--deadline SECONDS", Float, "end a contender that takes longer (default: 60, with --full " \
            "600)") do |seconds|
            @deadline = positive(seconds)
          end
          parser.on("--seed N", Integer, "seed of the order in a round (default: random, and reported)") do |n|
            @seed = n
          end
          parser.on("--html FILE", "write the report with charts there, as one file that opens anywhere") do |path|
            @html = path
          end
          parser.on("--json FILE", "write all measurements there, for programs") { |path| @json = path }
          parser.on("--check", "end with status 1 when a target is missed, or when none was measured") { @check = true }
          parser.on("--install-peers", "install the missing competitors, and end") { @install_peers = true }
          parser.on("--list", "list the experiments, and end") { @list = true }
          parser.on("-h", "--help", "print this") { @help = true }
        end
      end

      def latency(text)
        milliseconds = Float(text, exception: false)
        unless milliseconds&.between?(0, 10_000)
          raise OptionParser::InvalidArgument, "#{text} is not a number of milliseconds"
        end
        (milliseconds % 1 == 0) ? milliseconds.to_i : milliseconds
      end

      def positive(number)
        raise OptionParser::InvalidArgument, "must be more than 0" unless number > 0
        number
      end
    end
  end
end
