# frozen_string_literal: true

require_relative "report/number_format"
require_relative "pinning"
require_relative "statistics"

module Pelton
  module Lab
    # One race run with one pinning and one latency: the {Result} of every contender, and the checks of the targets.
    class Comparison
      # A ratio whose confidence interval reaches further than this share from it is marked as uncertain.
      TRUST = 0.10

      # @!attribute latency
      #   @return [Numeric, nil] milliseconds of round trip that a proxy adds; 0: no proxy; nil: the race has no
      #     latencies
      attr_reader :experiment, :race, :pin, :latency, :size, :rounds, :results
      # The server's name and version, and the reason why nothing was run; nil where there is none.
      attr_accessor :server, :skipped
      # The names of the contenders that could have taken part with `--peers`.
      attr_accessor :left_out
      # The command lines of the processes that were started, by program.
      attr_reader :commands

      def initialize(experiment, race, pin, size:, rounds:, results:, latency: nil)
        @experiment = experiment
        @race = race
        @pin = pin
        @latency = latency
        @commands = {}
        @left_out = []
        @size = size
        @rounds = rounds
        @results = results
      end

      # The experiment, the race, the pinning and the latency in a few words.
      def name
        [["#{experiment.name}: #{race.name}", Pinning::NAMES[pin]].join(", "),
          ("#{latency} ms" if latency)].compact.join(", ")
      end

      # The link that the race itself puts before the server, in words; nil where there is none.
      def line
        race.link&.map do |name, value|
          case name
          when :delay then "#{NumberFormat.short(value * 2000)} ms of round trip"
          when :chunk then "#{NumberFormat.short(value * 1000)} ms for each 64 KB"
          else "#{name.to_s.tr("_", " ")} #{NumberFormat.count(value, "byte")}"
          end
        end&.join(", ")
      end

      def [](contender_name)
        results.find { |result| result.name == contender_name }
      end

      # A line for each group of contenders that did not run, or not in all rounds.
      # @return [Array<String>]
      def absences
        fewer = results.select { |result| result.measured? && result.rounds < rounds }.group_by(&:rounds)
        [*fewer.map do |number, some|
          "#{NumberFormat.count(number, "round")} only (--full: all): #{some.map(&:name).join("; ")}"
        end,
          *("left out (--peers: they run, too): #{left_out.join("; ")}" if left_out.any?),
          *results.reject(&:measured?).map { |result| "#{result.status}: #{result.name}: #{result.reason}" }]
      end

      # Published results to show next to this comparison, or nil.
      def past
        race.past if race.past && [nil, pin].include?(race.past.pin)
      end

      # The baseline's result, or nil. Where a race has several baselines, the first one that was measured.
      def reference
        baselines = results.select { |result| result.contender.baseline }
        baselines.find(&:measured?) || baselines.first
      end

      # The ratio of a contender to the baseline: the median over the rounds. nil where one of them was not measured.
      def ratio(result, metric = race.metric.name)
        estimate(result, metric)&.value
      end

      # The metrics by which contenders are compared: several in a race with points.
      def metrics
        race.points ? race.points.numbers.map { |number| number.to_s.to_sym } : [race.metric.name]
      end

      # For each ratio to the baseline, whether it is certain within {TRUST}.
      # @return [Array<Boolean>]
      def trust
        return [] if skipped || !reference&.measured?
        (results - [reference]).product(metrics).select { |pair| ratio(*pair) }.map { |pair| trusted?(*pair) }
      end

      # The {#ratio} with its confidence interval, or nil.
      # @return [Statistics::Estimate, nil]
      def estimate(result, metric = race.metric.name)
        return unless reference
        values, base = result.positioned(metric), reference.positioned(metric)
        (@estimates ||= {})[[values, base]] ||= Statistics.ratio(values, base) # every report asks for it
      end

      # How far the confidence interval of the {#ratio} reaches from it, as a share.
      # @return [Float, nil] nil with too few rounds
      # @see Statistics::Estimate#spread
      def spread(result, metric = race.metric.name)
        (result == reference) ? 0.0 : estimate(result, metric)&.spread
      end

      def trusted?(result, metric = race.metric.name)
        spread = spread(result, metric)
        !spread.nil? && spread <= TRUST
      end

      # @return [Array<Target::Check>] one for each target that is meant for this pinning
      def checks
        race.targets.select { |target| target.pin.nil? || target.pin == pin }.map do |target|
          reason = skipped || other_size
          check = reason ? Target::Check.new(target, nil, 0, reason) : target.check(self)
          check.tap { check.latency = latency }
        end
      end

      private

      # A target is for the race's own size or its full one, and says nothing of another size.
      def other_size
        own = [race.size(pin), race.size(pin, full: true)].uniq
        unless own.include?(size)
          "its size is #{own.map { |size| NumberFormat.delimit(size) }.join(" or ")} #{race.unit}, not " \
          "#{NumberFormat.delimit(size)}"
        end
      end
    end
  end
end
