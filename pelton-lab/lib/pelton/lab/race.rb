# frozen_string_literal: true

require_relative "contender"
require_relative "past"
require_relative "target"

module Pelton
  module Lab
    # Contenders that do the same work against the same server, and the targets that they must meet.
    class Race
      # A value to compare: the name under which a {Measurement} knows it, its title, and its digits after the point.
      Metric = Struct.new(:name, :title, :digits)

      # Numbers of operations at once at which each run measures itself, and the title of that axis.
      Points = Struct.new(:title, :numbers)

      attr_reader :name, :sizes, :unit, :rounds, :rounds_per_process, :rehearsal, :link, :latencies, :contenders,
        :targets, :starter, :expected_counts, :disturbance

      # @param size [Integer, Hash{Symbol => Integer}] the amount of work in a round; by a Hash for each pinning:
      #   :same (client and server on one core), :apart (on two) or :free
      # @param unit [String] the unit of the size
      # @param rounds [Integer] timed rounds; with fewer than seven the report says how many there were next to each
      #   verdict
      # @param rounds_per_process [Integer] rounds for which a contender's process stays, between which the others are
      #   measured: the rounds can be short then, and neighbours in time, where the start of a process takes longer than
      #   a round. For contenders that use {Run#measure_server}
      # @param rehearsal [Integer] the size of the first, untimed round, in which answers are checked
      # @param link [Hash] a latency proxy in front of the server: {delay: seconds} one way, or {chunk: seconds} for
      #   each piece of at most 64 KB, and its faults: cut_after, stall_after, corrupt_at, see {LatencyProxy}
      # @param latency [Array<Numeric>] milliseconds of round trip: the race runs at each of them, through a proxy in
      #   front of the server (0: without one). `--latency` names others
      # @param full [Integer, nil] the size with `--full`, where nothing else bounds it either
      # @param fixed [Boolean] the size is part of the question: `--size` does not change it
      def initialize(name, size:, unit: "operations", rounds: 7, rounds_per_process: 1, rehearsal: nil, link: nil,
        latency: nil, full: nil, fixed: false,
        &description)
        @name = name
        @sizes = size.is_a?(Hash) ? size : {free: size}
        @unit = unit
        @rounds = rounds
        @rounds_per_process = rounds_per_process
        @rehearsal = rehearsal || [@sizes.values.min, 100].min
        @link = link
        @latencies = latency
        @full = full
        @fixed = fixed
        @contenders = []
        @targets = []
        @also = []
        @metric = Metric.new(:us_per_operation, "us/op", 2)
        instance_eval(&description)
      end

      # The size with a pinning, or the one that the command line asks for.
      def size(pin, asked_for = nil, full: false)
        return asked_for if asked_for && !@fixed
        return @full if full && @full
        sizes.fetch(pin) { sizes.values.first }
      end

      # Whether the size is part of the question.
      def fixed?
        @fixed
      end

      # Starts the server of the contenders: the block gets {Processes}, a core (nil: any) and the value of `--server`
      # (or nil), and returns an object with `port` and `version`, with `host` if it is on another machine, and with
      # `counters` (or nil) where counts are declared. One server serves all rounds of a race.
      def server(&starter)
        @starter = starter
      end

      # The server's counts of a round: the block gets the size and returns a Hash by counter.
      def counts(&expected)
        @expected_counts = expected
      end

      # With a text: describes the race for readers of the report. Without: that text, or nil.
      def about(text = nil)
        text ? @about = text : @about
      end

      # Published results of the same work, to compare with today's: see {Past}.
      def past(title = nil, **options, &rows)
        title ? @past = Past.new(title, **options, &rows) : @past
      end

      # With numbers: a run measures itself at each, by {Run#point}, and the title says what they count. Without: those
      # {Points}, or nil.
      def points(title = nil, numbers = nil)
        title ? @points = Points.new(title, numbers) : @points
      end

      # Disturbs the server while a contender is being measured; the block gets the server and the size.
      def disturb(&disturbance)
        @disturbance = disturbance
      end

      # With a name: sets the metric to compare. Without: that {Metric}.
      def metric(name = nil, title = name.to_s, digits: 2)
        name ? @metric = Metric.new(name, title, digits) : @metric
      end

      # With a name: shows one more metric of each contender next to the one to compare. Without a name: returns those
      # {Metric}s.
      def also(name = nil, title = name.to_s, digits: 2)
        name ? @also << Metric.new(name, title, digits) : @also
      end

      # Declares the contender that the others are compared with; of several, the first one that can run here.
      def baseline(name, **options, &work)
        contender(name, baseline: true, **options, &work)
      end

      # Declares a contender; its block gets a {Run}.
      def contender(name, **options, &work)
        @contenders << Contender.new(name, **options, &work)
      end

      # Declares a row of the targets, see {Target}.
      def target(row, what, **options)
        @targets << Target.new(row, what, default_metric: @metric.name, **options)
      end

      # The contender that the others are compared with, or nil.
      def reference
        contenders.find(&:baseline)
      end

      # @raise [KeyError] when there is none of that name
      def find(contender_name)
        contenders.find { |contender| contender.name == contender_name } or
          raise KeyError, "#{name} has no contender #{contender_name.inspect}"
      end
    end
  end
end
