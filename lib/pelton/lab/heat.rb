# frozen_string_literal: true

require_relative "figures"
require_relative "pinning"
require_relative "statistics"

module Pelton
  module Lab
    # One race run in one pinning and at one latency: every contender's {Result}, and what the targets say to it.
    class Heat
      # A ratio that another run may find more than this share off is not to be trusted.
      TRUST = 0.10

      # @!attribute latency
      #   @return [Numeric, nil] milliseconds of round trip that a proxy adds; 0: none, and no proxy; nil: the race asks for none
      attr_reader :experiment, :race, :pin, :latency, :size, :rounds, :results
      # What served: name and version. And why nothing was run, or nil.
      attr_accessor :server, :skipped
      # The names of contenders that are there and were not asked to take part.
      attr_accessor :left_out
      # The command lines of what was started, by what they run.
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

      # What was run, in a few words.
      def name
        [["#{experiment.name}: #{race.name}", Pinning::NAMES[pin]].join(", "), ("#{latency} ms" if latency)].compact.join(", ")
      end

      # What stands before the server by the race's own wish, in words; nil where nothing does.
      def line
        race.link&.map do |name, value|
          case name
          when :delay then "#{Figures.short(value * 2000)} ms of round trip"
          when :chunk then "#{Figures.short(value * 1000)} ms for each 64 KB"
          else "#{name.to_s.tr("_", " ")} #{Figures.count(value, "byte")}"
          end
        end&.join(", ")
      end

      def [](contender_name)
        results.find { |result| result.name == contender_name }
      end

      # What is to be known of who did not run, or not in all rounds: lines.
      # @return [Array<String>]
      def absences
        fewer = results.select { |result| result.measured? && result.rounds < rounds }.group_by(&:rounds)
        [*fewer.map { |number, some| "#{Figures.count(number, "round")} only (--full: all): #{some.map(&:name).join("; ")}" },
          *("left out (--peers: they run, too): #{left_out.join("; ")}" if left_out.any?),
          *results.reject(&:measured?).map { |result| "#{result.status}: #{result.name}: #{result.reason}" }]
      end

      # What others have published of it, if that is to stand beside this heat.
      def past
        race.past if race.past && [nil, pin].include?(race.past.pin)
      end

      # The baseline's result, or nil. Where a race has several baselines, it is the first that was measured.
      def reference
        baselines = results.select { |result| result.contender.baseline }
        baselines.find(&:measured?) || baselines.first
      end

      # A contender's median by the baseline's, or nil.
      def ratio(result, metric = race.metric.name)
        return unless result.measured? && reference&.measured?
        own, base = result.median(metric), reference.median(metric)
        own / base.to_f if own && base&.positive?
      end

      # The names of what its contenders are compared by: several in a race with points.
      def metrics
        race.points ? race.points.numbers.map { |number| number.to_s.to_sym } : [race.metric.name]
      end

      # For each ratio to the baseline whether another run would find much the same.
      # @return [Array<Boolean>]
      def trust
        return [] if skipped || !reference&.measured?
        (results - [reference]).product(metrics).select { |pair| ratio(*pair) }.map { |pair| trusted?(*pair) }
      end

      # How far off another run's {#ratio} may be (its median, where there is no baseline), as a share; nil: nobody knows.
      # @see Statistics.doubt
      def doubt(result, metric = race.metric.name)
        return 0.0 if result == reference
        values, base = result.values(metric), (reference.values(metric) if reference&.measured?)
        (@doubts ||= {})[[values, base]] ||= Statistics.doubt(values, base) # every report asks
      end

      # Whether another run would find much the same.
      def trusted?(result, metric = race.metric.name)
        doubt = doubt(result, metric)
        !doubt.nil? && doubt <= TRUST
      end

      # @return [Array<Target::Check>] for the targets that are meant for this pinning
      def checks
        race.targets.select { |target| target.pin.nil? || target.pin == pin }.map do |target|
          reason = skipped || other_size
          check = reason ? Target::Check.new(target, nil, 0, reason) : target.check(self)
          check.tap { check.latency = latency }
        end
      end

      private

      # A target is for the race's own size, or its full one: of less or more it says nothing.
      def other_size
        own = [race.size(pin), race.size(pin, full: true)].uniq
        "its size is #{own.map { |size| Figures.delimit(size) }.join(" or ")} #{race.unit}, not #{Figures.delimit(size)}" unless own.include?(size)
      end
    end
  end
end
