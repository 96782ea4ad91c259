# frozen_string_literal: true

require_relative "figures"
require_relative "pinning"
require_relative "sweep"
require_relative "table"

module Pelton
  module Lab
    # The report for people: a table for each heat, with the times as Ruby's Benchmark prints them, and the targets.
    class ReportText
      include Figures

      def initialize(out)
        @out = out
      end

      def environment(environment)
        machine = environment.to_h
        @out.puts("", "Pelton #{machine[:pelton]}#{" (#{machine[:commit]})" if machine[:commit]}, #{machine[:ruby]}",
          "#{machine[:kernel]}, #{machine[:cpu]}, #{machine[:usable_cores]} cores, load #{machine[:load]}")
      end

      def heat(heat)
        @out.puts("", title(heat), *("  #{heat.race.about}" if heat.race.about))
        return @out.puts("  skipped: #{heat.skipped}") if heat.skipped
        measured = heat.results.select(&:measured?)
        past(heat.past) if heat.past
        @out.puts((heat.race.points ? points(heat, measured) : table(heat, measured)).to_s.gsub(/^/, "  ")) if measured.any?
        heat.absences.each { |line| @out.puts("  #{line}") }
      end

      # From where on contenders are ahead of the baseline, for races that were run at several latencies.
      def sweeps(heats)
        Sweep.of(heats).select(&:several?).each do |sweep|
          base = sweep.measured.first.reference
          next unless base&.measured?
          @out.puts("", "#{sweep.heats.first.experiment.name}: #{sweep.race.name}: ahead of #{base.name}")
          sweep.rivals.each { |name| @out.puts("  #{name}: #{sweep.race.points ? frontier(sweep, name) : from(sweep.overtakes(name), "ms")}") }
        end
      end

      # Which ratios another run may not find again.
      def doubts(heats)
        doubtful = heats.flat_map(&:trust).count(false)
        return if doubtful.zero?
        @out.puts("", "#{count(doubtful, "ratio")} marked ? may be more than #{(Heat::TRUST * 100).round} % off in another run: do not trust them. " \
          "A quiet machine helps, and more rounds.")
      end

      def targets(heats)
        table = Table.new(" row", "what", " limit", " is", "")
        checks = heats.flat_map(&:checks).sort_by { |check| check.target.order }
        return if checks.empty?
        checks.each { |check| table.add(check.target.row || "-", check.what, *verdict(check)) }
        @out.puts("", "targets (medians; met within #{((Target::TOLERANCE - 1) * 100).round} %)", table.to_s.gsub(/^/, "  "))
        @out.puts("  (n): of n rounds; a verdict takes #{Target::ROUNDS_FOR_A_VERDICT}") unless checks.all?(&:sure?)
      end

      private

      def title(heat)
        facts = [Pinning::NAMES[heat.pin], ("#{heat.latency} ms of round trip" if heat.latency), "#{delimit(heat.size)} #{heat.race.unit}",
          count(heat.rounds, "round"), heat.server, heat.line]
        "#{heat.experiment.name}: #{heat.race.name} (#{facts.compact.join("; ")})"
      end

      def table(heat, measured)
        metric = heat.race.metric
        base = heat.reference&.name
        table = Table.new("", "style", " size", "      user     system      total        real", " #{metric.title}",
          " min..max", *heat.race.also.map { |one| " #{one.title}" }, *(" RSS MB" unless metric.name == :rss_mb), *(" / #{base}" if base))
        measured.each do |result|
          table.add(result.name, result.contender.style, delimit(result.size), times(result),
            number(result.median(metric.name), metric.digits), range(result, metric),
            *heat.race.also.map { |one| number(result.median(one.name), one.digits) }, *(number(result.median(:rss_mb), 0) unless metric.name == :rss_mb), *(ratio(heat, result) if base))
        end
        table
      end

      # What others published, in the same columns.
      def past(past)
        rows = Table.new("", "style", "      user     system      total        real", " / #{past.rows.first.name}")
        past.rows.each do |row|
          all = [row.user, row.system, row.total].map { |time| time ? format("%10.6f", time) : "-".rjust(10) }
          rows.add(row.name, row.style, "#{all.join(" ")} (#{format("%10.6f", row.real)})", number(past.ratio(row), 3))
        end
        @out.puts("  #{past.title}, #{past.source}:", rows.to_s.gsub(/^/, "  "), "  today:")
      end

      # Microseconds an operation at each point, and under them the ratios.
      def points(heat, measured)
        numbers = heat.race.points.numbers
        table = Table.new("#{heat.race.points.title}, us each", "style", *numbers.map { |number| " #{delimit(number)}" })
        measured.each do |result|
          table.add(result.name, result.contender.style, *numbers.map { |number| short(result.median(number.to_s.to_sym)) })
          next unless heat.reference&.measured? && result != heat.reference
          table.add("  / #{heat.reference.name}", "", *numbers.map { |number| ratio(heat, result, number.to_s.to_sym) })
        end
        table
      end

      def frontier(sweep, name)
        sweep.measured.map { |heat| "at #{heat.latency} ms #{from(sweep.overtakes_at(heat, name), "at once")}" }.join(", ")
      end

      def from(value, unit)
        value ? "from #{short(value)} #{unit}" : "never"
      end

      # "?" marks what another run may not find again.
      def ratio(heat, result, metric = heat.race.metric.name)
        "#{number(heat.ratio(result, metric), 3)}#{heat.trusted?(result, metric) ? " " : "?"}"
      end

      # As article 000 prints it, and Ruby's Benchmark.
      def times(result)
        format("%10.6f %10.6f %10.6f (%10.6f)", *%i[user system cpu real].map { |name| result.median(name) })
      end

      def range(result, metric)
        result.range(metric.name).map { |value| number(value, metric.digits) }.join("..")
      end

      def verdict(check)
        target = check.target
        limit = "<= #{number(target.limit, target.digits)}#{" #{target.unit}" if target.unit}"
        return [limit, "-", "#{check.verdict}: #{check.reason}"] unless check.figure
        [limit, number(check.figure, target.digits), check.sure? ? check.verdict : "#{check.verdict} (#{check.rounds})"]
      end
    end
  end
end
