# frozen_string_literal: true

require_relative "contender"
require_relative "past"
require_relative "target"

module Pelton
  module Lab
    # Contenders that do the same work against the same server, and what they must show.
    class Race
      # What is compared: the name under which a {Measurement} knows it, its title, and its digits after the point.
      Metric = Struct.new(:name, :title, :digits)

      Points = Struct.new(:title, :numbers)

      attr_reader :name, :sizes, :unit, :rounds, :rehearsal, :link, :latencies, :contenders, :targets, :starter, :expected_counts, :disturbance

      # @param size [Integer, Hash{Symbol => Integer}] how much work a round is; by a Hash for each pinning:
      #   :same (client and server on one core), :apart (on two) or :free
      # @param unit [String] what size counts
      # @param rounds [Integer] timed rounds; under seven no verdict is sure, and the report says so
      # @param rehearsal [Integer] the size of the first, untimed round, in which answers are checked
      # @param link [Hash] a latency proxy in front of the server: {delay: seconds} one way, or {chunk: seconds} for
      #   each piece of at most 64 KB, and its troubles: cut_after, stall_after, corrupt_at, see {LatencyProxy}
      # @param latency [Array<Numeric>] milliseconds of round trip: the race is run at each, through a proxy before the
      #   server (0: without one). `--latency` names others
      # @param full [Integer, nil] the size with `--full`, where nothing else bounds it either
      # @param fixed [Boolean] the size is part of the question: `--size` does not change it
      def initialize(name, size:, unit: "operations", rounds: 7, rehearsal: nil, link: nil, latency: nil, full: nil, fixed: false,
        &description)
        @name = name
        @sizes = size.is_a?(Hash) ? size : {free: size}
        @unit = unit
        @rounds = rounds
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

      # The size in a pinning, or for all the one that was asked for.
      def size(pin, asked_for = nil, full: false)
        return asked_for if asked_for && !@fixed
        return @full if full && @full
        sizes.fetch(pin) { sizes.values.first }
      end

      # Whether the size is part of the question.
      def fixed?
        @fixed
      end

      # Starts the server the contenders talk to: the block gets {Processes}, a core (nil: any) and what
      # `--server` named (or nil), and returns an object with `port` and `version`, if it is elsewhere `host`, and where
      # counts are declared `counters` (which may be nil). One server serves all rounds of a race.
      def server(&starter)
        @starter = starter
      end

      # What the server must have counted after a round: the block gets the size, returns a Hash by counter.
      def counts(&expected)
        @expected_counts = expected
      end

      # With a text: says what is done, for those who read the report and nothing else. Without: that text, or nil.
      def about(text = nil)
        text ? @about = text : @about
      end

      # What somebody else has measured doing this, to stand beside today's figures, see {Past}.
      def past(title = nil, **options, &rows)
        title ? @past = Past.new(title, **options, &rows) : @past
      end

      # With numbers: a run measures itself at each, by `run.record(number, microseconds an operation)`, and what they count
      # is said by the title. Without: those {Points}, or nil.
      def points(title = nil, numbers = nil)
        title ? @points = Points.new(title, numbers) : @points
      end

      # Done to the server while a contender is being measured; the block gets the server and the size.
      def disturb(&disturbance)
        @disturbance = disturbance
      end

      # With a name: says what is compared. Without: that {Metric}.
      def metric(name = nil, title = name.to_s, digits: 2)
        name ? @metric = Metric.new(name, title, digits) : @metric
      end

      # With a name: shows one more figure of each contender beside the one that is compared. Without: those {Metric}s.
      def also(name = nil, title = name.to_s, digits: 2)
        name ? @also << Metric.new(name, title, digits) : @also
      end

      # Declares the contender that the others are compared with. Of several, it is the first that can run here.
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
