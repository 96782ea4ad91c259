# frozen_string_literal: true

require_relative "figures"
require_relative "heat"
require_relative "html"
require_relative "pinning"
require_relative "report_html/bars"
require_relative "report_html/grid"
require_relative "report_html/lines"
require_relative "report_html/style"
require_relative "report_html/summary"
require_relative "report_html/tables"
require_relative "sweep"
require_relative "target"

module Pelton
  module Lab
    # The report to show around: one HTML file with charts, which loads nothing and runs no script. It is light or dark as
    # its reader's system is.
    class ReportHtml
      # Styles that have a colour; what is called otherwise shares the last.
      STYLES = %w[blocking callback deferrable direct].freeze

      # What the tables' short titles mean.
      TITLES = {"us/op" => "time an operation takes, µs", "CPU us/op" => "CPU time an operation takes, µs", "s" => "time for all, s"}.freeze

      class << self
        # @return [String] us is how one types µs
        def unit(title) = title.to_s.gsub(/\bus\b/, "µs")

        def style_class(style) = "style-#{STYLES.include?(style) ? style : "other"}"

        # Where on the page a sweep is.
        def id(sweep) = "#{sweep.heats.first.experiment.name} #{sweep.race.name} #{sweep.pin}".downcase.gsub(/[^a-z0-9]+/, "-")

        # @param latency [Float, nil] see {Sweep#overtakes}
        def overtaking(latency)
          return " not ahead of the baseline" unless latency
          latency.zero? ? " ahead from 0 ms on" : " ahead from #{Figures.short(latency)} ms on"
        end
      end

      def initialize(heats, options, environment)
        @heats = heats
        @options = options
        @environment = environment.to_h
        @sweeps = Sweep.of(heats)
      end

      # @return [String] the whole page
      def to_s
        "<!DOCTYPE html>\n#{page}\n"
      end

      private

      def page
        Html.tag(:html, Html.tag(:head, Html.tag(:meta, charset: "utf-8"), Html.tag(:meta, name: "viewport", content: "width=device-width, initial-scale=1"),
          Html.tag(:meta, name: "color-scheme", content: "light dark"), Html.tag(:title, "Pelton lab: #{experiments.map(&:name).join(", ")}"),
          Html.tag(:style, Html::Markup.new(STYLE))),
          Html.tag(:body, header, Html.tag(:main, short, targets, experiments.map { |experiment| chapter(experiment) }, method), footer), lang: "en")
      end

      def experiments = @heats.map(&:experiment).uniq

      def header
        Html.tag(:header, Html::Markup.new(WHEEL), Html.tag(:div, Html.tag(:h1, "What async costs, what it gains"),
          Html.tag(:p, "Measured by Pelton #{@environment[:pelton]} on #{@environment[:cpu] || @environment[:kernel]}, #{Figures.count(@environment[:usable_cores], "core")}, " \
            "#{@environment[:ruby][/\Aruby \S+/]}, #{@environment[:time].to_s[0, 10]}")))
      end

      def short
        Html.tag(:section, Html.tag(:h2, "In short"), Summary.new(@sweeps).to_html, trust)
      end

      # Whether another run would find the same.
      def trust
        ratios = @heats.flat_map(&:trust)
        return if ratios.empty?
        doubtful = ratios.count(false)
        return Html.tag(:p, "Another run would find all #{ratios.size} ratios within 10 % of these.", busy) if doubtful.zero?
        Html.tag(:p, Html.tag(:span, "#{doubtful} of #{ratios.size} ratios, marked like this, may come out more than 10 % differently in " \
          "another run: do not rely on them. A quiet machine and more rounds help.", class: "doubtful"), busy)
      end

      def busy
        load, cores = @environment.values_at(:load, :usable_cores)
        " The machine was busy with other things when this began (load #{load} on #{Figures.count(cores, "core")})." if load && load > cores / 2.0
      end

      def targets
        checks = @heats.flat_map(&:checks)
        return if checks.empty?
        met = checks.count { |check| check.figure && check.met? }
        Html.tag(:section, Html.tag(:h2, "Targets"),
          Html.tag(:p, "#{met} of #{checks.size} met. Medians within #{((Target::TOLERANCE - 1) * 100).round} % of a limit meet it; " \
            "fewer than #{Target::ROUNDS_FOR_A_VERDICT} rounds are said beside the verdict.", class: "facts"), Tables.targets(checks))
      end

      def chapter(experiment)
        Html.tag(:section, Html.tag(:h2, experiment.name), Html.tag(:p, experiment.about, class: "about"),
          @sweeps.select { |sweep| sweep.heats.first.experiment == experiment }.map { |sweep| article(sweep) }, class: "experiment")
      end

      def article(sweep)
        heat = sweep.heats.first
        Html.tag(:article, Html.tag(:h3, sweep.race.name), (Html.tag(:p, sweep.race.about, class: "about") if sweep.race.about), Html.tag(:p, facts(sweep), class: "facts"),
          sweep.measured.empty? ? nil : [picture(sweep), (Tables.past(heat.past, heat) if heat.past), tables(sweep)], absent(sweep), id: self.class.id(sweep))
      end

      def facts(sweep)
        heat = sweep.heats.first
        [Pinning::NAMES[heat.pin], "#{Figures.delimit(heat.size)} #{heat.race.unit}", Figures.count(heat.rounds, "round"), heat.server, heat.line].compact.join(" · ")
      end

      def picture(sweep)
        return grids(sweep) if sweep.race.points
        return Lines.new(sweep).to_html if sweep.several?
        heat = sweep.measured.first
        [heat.race.metric, *sweep.race.also].map { |metric| titled(metric, Bars.new(heat, metric).to_html) }
      end

      def titled(metric, bars)
        [Html.tag(:h4, TITLES.fetch(metric.title) { self.class.unit(metric.title) }), bars] unless bars.empty?
      end

      def grids(sweep)
        base = sweep.measured.map(&:reference).find { |result| result&.measured? }&.name or return
        names = sweep.rivals.reject { |name| sweep.race.find(name).baseline }
        Html.tag(:div, Html.tag(:p, "Up: #{sweep.race.points.title}. To the right: milliseconds of round trip. In each field: the time an operation takes, " \
          "by that of #{base}. ", Html.tag(:span, "faster than #{base}", class: "key ahead"), " ", Html.tag(:span, "slower", class: "key behind"),
          " The dashed line is where one overtakes the other.", class: "facts"),
          Html.tag(:div, names.map { |name| Grid.new(sweep, name).to_html }, class: "grids"))
      end

      def tables(sweep)
        tables = sweep.measured.map do |heat|
          Html.join([(Html.tag(:h4, "#{heat.latency} ms") if heat.latency), heat.race.points ? Tables.points(heat) : Tables.heat(heat)])
        end
        Html.tag(:details, Html.tag(:summary, "All figures"), tables)
      end

      # Who did not take part, and why.
      def absent(sweep)
        reasons = sweep.heats.flat_map do |heat|
          next ["#{"#{heat.latency} ms " if heat.latency}skipped: #{heat.skipped}"] if heat.skipped
          heat.absences
        end
        Html.tag(:ul, reasons.uniq.map { |reason| Html.tag(:li, reason) }, class: "absent") unless reasons.empty?
      end

      def method
        commands = @heats.map(&:commands).reject(&:empty?).inject({}) { |all, some| some.merge(all) }
        Html.tag(:section, Html.tag(:h2, "How it was measured"),
          Html.tag(:p, "Contenders take turns: in each round everyone runs once, in a process of its own, in a shuffled order, after an " \
            "untimed round in which every answer is checked. Bars and tables show medians, a dot is one round, the dashed line is the " \
            "baseline's median. ×0.25 is a quarter of what the baseline takes; ± says how far off another run's ratio may be, and amber that " \
            "this is more than 10 %. A round trip on one core and one between two cores are two different things: compare within a picture."),
          Html.tag(:h4, "The command that repeats it"), Html.tag(:pre, @options.command),
          (Html.tag(:h4, "What it started, among others") if commands.any?), (Html.tag(:pre, commands.values.join("\n")) if commands.any?),
          Html.tag(:h4, "The machine and the versions"), Html.tag(:dl, machine.flat_map { |name, value| [Html.tag(:dt, name), Html.tag(:dd, value)] }))
      end

      def machine
        versions = @heats.flat_map(&:results).map(&:contender).filter_map { |one| [one.gem || one.program, one.version] if one.version }.uniq
        {"processor" => @environment[:cpu], "cores" => "#{@environment[:usable_cores]} of #{@environment[:cores]}", "kernel" => @environment[:kernel],
         "ruby" => @environment[:ruby], "YJIT" => @environment[:yjit] ? "on" : "off", "pelton" => "#{@environment[:pelton]}#{" (#{@environment[:commit]})" if @environment[:commit]}",
         "servers" => @heats.filter_map(&:server).uniq.join("; "), "peers" => versions.map { |pair| pair.join(" ") }.join(", "),
         "load before" => @environment[:load], "when" => @environment[:time]}.reject { |_, value| value.to_s.empty? }
      end

      def footer
        Html.tag(:footer, "Made by pelton lab. A figure without its machine, its versions and its pinning says nothing: keep them together.")
      end
    end
  end
end
