# frozen_string_literal: true

require "json"

module Pelton
  module Lab
    # The report for programs: environment, parameters, every round of every contender, and the targets.
    class ReportJson
      # The layout's version: it grows when a key changes its meaning or is gone, not when one is added.
      # 2: `ratio` is the median of the ratios of neighbouring rounds; `interval` instead of `doubt`.
      FORMAT = 2

      def initialize(comparisons, options, environment)
        @comparisons = comparisons
        @options = options
        @environment = environment
      end

      def to_h
        {format: FORMAT, environment: @environment.to_h.merge(versions:),
         parameters: @options.to_h.merge(command: @options.command),
         contenders: @comparisons.flat_map { |comparison| contenders(comparison) },
         checks: @comparisons.flat_map { |comparison| checks(comparison) }}
      end

      def to_s
        JSON.pretty_generate(to_h) << "\n"
      end

      private

      def versions
        gems = @comparisons.flat_map(&:results).map(&:contender).select { |one| one.gem || one.program }.to_h do |one|
          [one.gem || one.program, one.version]
        end
        gems.merge("servers" => @comparisons.filter_map(&:server).uniq)
      end

      def setting(comparison)
        {experiment: comparison.experiment.name, race: comparison.race.name, pin: comparison.pin,
         latency: comparison.latency}
      end

      def contenders(comparison)
        metric = comparison.race.metric.name
        comparison.results.map do |result|
          estimate = comparison.estimate(result)
          status = comparison.skipped ? :skipped : result.status
          {**setting(comparison), name: result.name, style: result.contender.style,
                                  baseline: result.contender.baseline, size: result.size,
                                  status:, reason: comparison.skipped || result.reason,
                                  also: comparison.race.also.to_h { |one| [one.name, result.median(one.name)] },
                                  metric:, median: result.median(metric), ratio: estimate&.value,
                                  interval: interval(estimate),
                                  user: result.median(:user), system: result.median(:system),
                                  real: result.median(:real), rss: result.median(:rss_mb),
                                  rounds: result.measurements.map(&:to_h)}
        end
      end

      def checks(comparison)
        comparison.checks.map do |check|
          target = check.target
          {**setting(comparison), row: target.row, what: target.what, contender: target.contender,
                                  metric: target.metric,
                                  ratio: check.value, interval: interval(check.estimate), target: target.limit,
                                  unit: target.unit, verdict: check.verdict,
                                  met: {"met" => true, "missed" => false}[check.verdict], rounds: check.rounds,
                                  reason: check.reason}
        end
      end

      # @return [Array(Float, Float), nil]
      def interval(estimate)
        [estimate.low, estimate.high] if estimate&.low
      end
    end
  end
end
