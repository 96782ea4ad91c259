# frozen_string_literal: true

require_relative "../environment"
require_relative "number_format"
require_relative "../pinning"
require_relative "../latency_sweep"
require_relative "table"

module Pelton
  module Lab
    # The report as text: a table for each comparison, with times in the format of Ruby's Benchmark, and the targets.
    class ReportText
      include NumberFormat

      def initialize(out)
        @out = out
      end

      def environment(environment)
        machine = environment.to_h
        @out.puts("", "Pelton #{machine[:pelton]}#{" (#{machine[:commit]})" if machine[:commit]}, #{machine[:ruby]}",
          "#{machine[:kernel]}, #{machine[:cpu]}, #{machine[:usable_cores]} cores, load #{machine[:load]}",
          *Environment.busy(machine))
      end

      def comparison(comparison)
        @out.puts("", title(comparison), *("  #{comparison.race.about}" if comparison.race.about))
        return @out.puts("  skipped: #{comparison.skipped}") if comparison.skipped
        measured = comparison.results.select(&:measured?)
        past(comparison.past) if comparison.past
        if measured.any?
          @out.puts((comparison.race.points ? points(comparison, measured) : table(comparison, measured)).to_s.gsub(/^/,
            "  "))
        end
        comparison.absences.each { |line| @out.puts("  #{line}") }
      end

      # The latency from which on a contender is ahead of the baseline, for races that ran at several latencies.
      def latency_sweeps(comparisons)
        LatencySweep.of(comparisons).select(&:several?).each do |sweep|
          base = sweep.measured.first.reference
          next unless base&.measured?
          @out.puts("", "#{sweep.comparisons.first.experiment.name}: #{sweep.race.name}: ahead of #{base.name}")
          sweep.rivals.each do |name|
            @out.puts("  #{name}: #{sweep.race.points ? frontier(sweep, name) : from(sweep.overtakes(name), "ms")}")
          end
        end
      end

      # How many ratios have a wide confidence interval.
      def uncertain(comparisons)
        uncertain = comparisons.flat_map(&:trust).count(false)
        return if uncertain.zero?
        @out.puts("", "#{count(uncertain, "ratio")} marked ?: not certain within #{(Comparison::TRUST * 100).round} " \
          "%. A quiet machine helps, and more rounds.")
      end

      def targets(comparisons)
        table = Table.new(" row", "what", " limit", " is", "")
        checks = comparisons.flat_map(&:checks).sort_by { |check| check.target.order }
        return if checks.empty?
        checks.each { |check| table.add(check.target.row || "-", check.what, *verdict(check)) }
        @out.puts("", "targets (medians; met within #{((Target::TOLERANCE - 1) * 100).round} %)",
          table.to_s.gsub(/^/, "  "))
        if checks.any? { |check| check.verdict == "not certain" }
          @out.puts("  not certain: the confidence interval of the value includes the limit, or there were too few " \
            "rounds for one")
        end
        unless checks.all? { |check| check.value.nil? || check.enough_rounds? }
          @out.puts("  (n): from n rounds only, a verdict should have #{Target::ROUNDS_FOR_A_VERDICT}")
        end
      end

      private

      def title(comparison)
        facts = [Pinning::NAMES[comparison.pin], ("#{comparison.latency} ms of round trip" if comparison.latency),
          "#{delimit(comparison.size)} #{comparison.race.unit}",
          count(comparison.rounds, "round"), comparison.server, comparison.line]
        "#{comparison.experiment.name}: #{comparison.race.name} (#{facts.compact.join("; ")})"
      end

      def table(comparison, measured)
        metric = comparison.race.metric
        base = comparison.reference&.name
        table = Table.new("", "style", " size", "      user     system      total        real", " #{metric.title}",
          " min..max", *comparison.race.also.map { |one| " #{one.title}" }, *(" RSS MB" unless metric.name == :rss_mb),
          *(" / #{base}" if base))
        measured.each do |result|
          table.add(result.name, result.contender.style, delimit(result.size), times(result),
            number(result.median(metric.name), metric.digits), range(result, metric),
            *comparison.race.also.map { |one| number(result.median(one.name), one.digits) },
            *(number(result.median(:rss_mb), 0) unless metric.name == :rss_mb), *(ratio(comparison, result) if base))
        end
        table
      end

      # Published results, in the same columns.
      def past(past)
        rows = Table.new("", "style", "      user     system      total        real", " / #{past.rows.first.name}")
        past.rows.each do |row|
          all = [row.user, row.system, row.total].map { |time| time ? format("%10.6f", time) : "-".rjust(10) }
          rows.add(row.name, row.style, "#{all.join(" ")} (#{format("%10.6f", row.real)})", number(past.ratio(row), 3))
        end
        @out.puts("  #{past.title}, #{past.source}:", rows.to_s.gsub(/^/, "  "), "  today:")
      end

      # Microseconds an operation at each point, and under them the ratios.
      def points(comparison, measured)
        numbers = comparison.race.points.numbers
        table = Table.new("#{comparison.race.points.title}, us each", "style",
          *numbers.map { |number| " #{delimit(number)}" })
        measured.each do |result|
          table.add(result.name, result.contender.style,
            *numbers.map { |number| short(result.median(number.to_s.to_sym)) })
          next unless comparison.reference&.measured? && result != comparison.reference
          table.add("  / #{comparison.reference.name}", "",
            *numbers.map { |number| ratio(comparison, result, number.to_s.to_sym) })
        end
        table
      end

      def frontier(sweep, name)
        sweep.measured
          .map { |comparison| "at #{comparison.latency} ms #{from(sweep.overtakes_at(comparison, name), "at once")}" }
          .join(", ")
      end

      def from(value, unit)
        value ? "from #{short(value)} #{unit}" : "never"
      end

      # "?" marks a ratio with a wide confidence interval.
      def ratio(comparison, result, metric = comparison.race.metric.name)
        ratio = comparison.ratio(result, metric)
        "#{number(ratio, 3)}#{(ratio.nil? || comparison.trusted?(result, metric)) ? " " : "?"}"
      end

      # The format of Ruby's Benchmark.
      def times(result)
        format("%10.6f %10.6f %10.6f (%10.6f)", *%i[user system cpu real].map { |name| result.median(name) })
      end

      def range(result, metric)
        result.range(metric.name).map { |value| number(value, metric.digits) }.join("..")
      end

      def verdict(check)
        target = check.target
        limit = "<= #{number(target.limit, target.digits)}#{" #{target.unit}" if target.unit}"
        return [limit, "-", "#{check.verdict}: #{check.reason}"] unless check.value
        [limit, number(check.value, target.digits),
          check.enough_rounds? ? check.verdict : "#{check.verdict} (#{check.rounds})"]
      end
    end
  end
end
