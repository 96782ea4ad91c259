# frozen_string_literal: true

require_relative "../lab"
require_relative "environment"
require_relative "options"
require_relative "peers"
require_relative "progress"
require_relative "report/html"
require_relative "report/json"
require_relative "report/text"
require_relative "runner"

module Pelton
  module Lab
    # `pelton lab`.
    module Command
      class << self
        # Runs the command and returns the exit status: 0; 1 when nothing could be measured, or with `--check` when a
        # target was missed; 2 for wrong arguments; 130 after Ctrl-C.
        def run(arguments, out: $stdout, error: $stderr)
          out.sync = true # each part of the report comes when it is complete, in a file as well
          options = Options.new(arguments)
          return help(options, out) if options.help?
          return list(out) if options.list?
          return Peers.new(out).install if options.install_peers?
          files = {ReportJson => options.json, ReportHtml => options.html}.compact
          # Fails now if it cannot be written, and not in two minutes
          files.each_value { |path| File.open(path, "a").close }
          environment = Environment.new
          comparisons = measure(options, environment, out, error)
          files.each { |report, path| File.write(path, report.new(comparisons, options, environment).to_s) }
          out.puts("", "report: #{File.expand_path(options.html)}") if options.html
          status(comparisons, options, error)
        rescue UsageError, SystemCallError => problem
          error.puts("pelton lab: #{problem.message}")
          2
        rescue Interrupt
          error.puts("\npelton lab: interrupted")
          130
        ensure
          files&.each_value { |path| File.delete(path) if File.zero?(path) } # there is no report
        end

        private

        def help(options, out)
          out.puts(options.usage)
          list(out)
        end

        def list(out)
          introduce(Lab.shipped.each_value.flat_map { |path| Lab.load(path) }, out)
          0
        end

        def status(comparisons, options, error)
          return 1 unless comparisons.any? { |comparison| comparison.results.any?(&:measured?) }
          return 0 unless options.check
          checks = comparisons.flat_map(&:checks).select(&:value)
          missed = checks.count(&:missed?)
          uncertain = checks.count { |check| !check.met? && !check.missed? }
          error.puts("pelton lab: #{uncertain} of #{checks.size} targets not certain") if uncertain.positive?
          return 0 if missed.zero? && checks.any?
          error.puts(
            "pelton lab: #{checks.empty? ? "no target was measured" : "#{missed} of #{checks.size} targets missed"}"
          )
          1
        end

        def measure(options, environment, out, error)
          experiments = named(options.names).flat_map { |path| Lab.load(path) }
          experiments.reject!(&:only_when_named?) if options.names.empty?
          choose(experiments, options.race) if options.race
          if options.latencies && experiments.flat_map(&:races).none?(&:latencies)
            raise UsageError,
              "--latency is for races with a latency sweep (race \"name\", latency: [0], ...): there is none here"
          end
          introduce(experiments, out)
          text = ReportText.new(out)
          text.environment(environment)
          progress = Progress.new(error)
          comparisons = Runner.new(options, progress:).run(experiments) do |comparison|
            progress.clear
            text.comparison(comparison)
          end
          text.latency_sweeps(comparisons)
          text.targets(comparisons)
          text.uncertain(comparisons)
          comparisons
        ensure
          progress&.clear
        end

        # Leaves the races whose names contain a text.
        def choose(experiments, text)
          experiments.each { |experiment| experiment.races.keep_if { |race| race.name.include?(text) } }
          if experiments.flat_map(&:races).empty?
            raise UsageError, "no race of #{experiments.map(&:name).join(", ")} has #{text.inspect} in its name"
          end
        end

        def named(names)
          shipped = Lab.shipped
          return shipped.values if names.empty?
          names.map do |name|
            next shipped[name] if shipped.key?(name)
            unless File.file?(name)
              raise UsageError, "no experiment #{name.inspect}: use one of #{shipped.keys.join(", ")}, or a file"
            end
            File.expand_path(name)
          end
        end

        def introduce(experiments, out)
          out.puts("\nexperiments:")
          experiments.each { |experiment| out.puts("  #{experiment.name.ljust(12)} #{experiment.about}") }
        end
      end
    end
  end
end
