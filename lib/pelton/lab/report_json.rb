# frozen_string_literal: true

require "json"

module Pelton
  module Lab
    # The report for programs: environment, parameters, every contender's every round, and the targets.
    class ReportJson
      # The layout's version: it grows when a key changes its meaning, not when one is added.
      FORMAT = 1

      def initialize(heats, options, environment)
        @heats = heats
        @options = options
        @environment = environment
      end

      def to_h
        {format: FORMAT, environment: @environment.to_h.merge(versions:), parameters: @options.to_h.merge(command: @options.command),
         contenders: @heats.flat_map { |heat| contenders(heat) }, checks: @heats.flat_map { |heat| checks(heat) }}
      end

      def to_s
        JSON.pretty_generate(to_h) << "\n"
      end

      private

      def versions
        gems = @heats.flat_map(&:results).map(&:contender).select { |one| one.gem || one.program }.to_h { |one| [one.gem || one.program, one.version] }
        gems.merge("servers" => @heats.filter_map(&:server).uniq)
      end

      def place(heat)
        {experiment: heat.experiment.name, race: heat.race.name, pin: heat.pin}
      end

      def contenders(heat)
        heat.results.map do |result|
          {**place(heat), latency: heat.latency, name: result.name, style: result.contender.style, baseline: result.contender.baseline,
                          size: result.size, status: heat.skipped ? :skipped : result.status, reason: heat.skipped || result.reason,
                          also: heat.race.also.to_h { |one| [one.name, result.median(one.name)] },
                          metric: heat.race.metric.name, median: result.median(heat.race.metric.name), ratio: heat.ratio(result), doubt: heat.doubt(result),
                          user: result.median(:user), system: result.median(:system), real: result.median(:real),
                          rss: result.median(:rss_mb), rounds: result.measurements.map(&:to_h)}
        end
      end

      def checks(heat)
        heat.checks.map do |check|
          target = check.target
          {**place(heat), latency: heat.latency, row: target.row, what: target.what, contender: target.contender, metric: target.metric,
                          ratio: check.figure, doubt: check.doubt, target: target.limit, unit: target.unit, met: check.figure && check.met?,
                          rounds: check.rounds, reason: check.reason}
        end
      end
    end
  end
end
