# frozen_string_literal: true

require_relative "pinning"
require_relative "table"

module Pelton
  module Lab
    # The report for people: a table for each heat, with the times as Ruby's Benchmark prints them, and the targets.
    class ReportText
      def initialize(out)
        @out = out
      end

      def environment(environment)
        machine = environment.to_h
        @out.puts("", "Pelton #{machine[:pelton]}#{" (#{machine[:commit]})" if machine[:commit]}, #{machine[:ruby]}",
          "#{machine[:kernel]}, #{machine[:cpu]}, #{machine[:usable_cores]} cores, load #{machine[:load]}")
      end

      def heat(heat)
        @out.puts("", title(heat))
        return @out.puts("  skipped: #{heat.skipped}") if heat.skipped
        measured = heat.results.select(&:measured?)
        @out.puts(table(heat, measured).to_s.gsub(/^/, "  ")) if measured.any?
        (heat.results - measured).each { |result| @out.puts("  #{result.status}: #{result.name}: #{result.reason}") }
      end

      def targets(heats)
        table = Table.new(" row", "what", " limit", " is", "")
        checks = heats.flat_map(&:checks).sort_by { |check| check.target.row }
        return if checks.empty?
        checks.each { |check| table.add(check.target.row, check.target.what, *verdict(check)) }
        @out.puts("", "targets (medians; met within #{((Target::TOLERANCE - 1) * 100).round} %)", table.to_s.gsub(/^/, "  "))
        @out.puts("  (n): of n rounds; a verdict takes #{Target::ROUNDS_FOR_A_VERDICT}") unless checks.all?(&:sure?)
      end

      private

      def title(heat)
        facts = [Pinning::NAMES[heat.pin], "#{delimit(heat.size)} #{heat.race.unit}", "#{heat.rounds} #{(heat.rounds == 1) ? "round" : "rounds"}", heat.server, link(heat.race.link)]
        "#{heat.experiment.name}: #{heat.race.name} (#{facts.compact.join("; ")})"
      end

      def link(link)
        link&.map { |name, seconds| "#{name} of #{seconds * 1000} ms" }&.join(", ")
      end

      def table(heat, measured)
        metric = heat.race.metric
        base = heat.reference&.name
        table = Table.new("", "style", " size", "      user     system      total        real", " #{metric.title}",
          " min..max", *(" RSS MB" unless metric.name == :rss_mb), *(" / #{base}" if base))
        measured.each do |result|
          table.add(result.name, result.contender.style, delimit(result.size), times(result),
            number(result.median(metric.name), metric.digits), range(result, metric),
            *(number(result.median(:rss_mb), 0) unless metric.name == :rss_mb), *(number(heat.ratio(result), 3) if base))
        end
        table
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

      def number(value, digits)
        value ? format("%.#{digits}f", value) : "-"
      end

      def delimit(number)
        number.to_s.gsub(/(\d)(?=(\d{3})+$)/, "\\1,")
      end
    end
  end
end
