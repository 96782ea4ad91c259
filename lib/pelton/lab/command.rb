# frozen_string_literal: true

require_relative "../lab"
require_relative "environment"
require_relative "options"
require_relative "progress"
require_relative "report_json"
require_relative "report_text"
require_relative "runner"

module Pelton
  module Lab
    # `pelton lab`.
    module Command
      class << self
        # Runs it and returns the exit status: 0, 1 when nothing could be measured, 2 when it was asked wrongly, 130
        # after Ctrl-C.
        def run(arguments, out: $stdout, error: $stderr)
          options = Options.new(arguments)
          return help(options, out) if options.help?
          json = options.json && File.open(options.json, "w") # it should fail now, not in two minutes
          heats = measure(options, out, error)
          json&.write(ReportJson.new(heats, options, Environment.new).to_s)
          (heats.any? { |heat| heat.results.any?(&:measured?) }) ? 0 : 1
        rescue UsageError, SystemCallError => problem
          error.puts("pelton lab: #{problem.message}")
          2
        rescue Interrupt
          error.puts("\npelton lab: interrupted")
          130
        ensure
          json&.close
        end

        private

        def help(options, out)
          out.puts(options.usage)
          Lab.shipped.each_value { |path| introduce(Lab.load(path), out) }
          0
        end

        def measure(options, out, error)
          experiments = named(options.names).flat_map { |path| Lab.load(path) }
          introduce(experiments, out)
          text = ReportText.new(out)
          text.environment(Environment.new)
          progress = Progress.new(error)
          heats = experiments.flat_map do |experiment|
            Runner.new(options, progress:).run(experiment) do |heat|
              progress.clear
              text.heat(heat)
            end
          end
          text.targets(heats)
          heats
        ensure
          progress&.clear
        end

        def named(names)
          shipped = Lab.shipped
          return shipped.values if names.empty?
          names.map do |name|
            next shipped[name] if shipped.key?(name)
            raise UsageError, "no experiment #{name.inspect}: give one of #{shipped.keys.join(", ")}, or a file" unless File.file?(name)
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
