# frozen_string_literal: true

require_relative "number_format"
require_relative "../comparison"
require_relative "../environment"
require_relative "markup"
require_relative "../pinning"
require_relative "html/bars"
require_relative "html/grid"
require_relative "html/lines"
require_relative "html/style"
require_relative "html/summary"
require_relative "html/tables"
require_relative "../latency_sweep"
require_relative "../target"

module Pelton
  module Lab
    # The report as one HTML file with charts. It loads nothing, runs no script, and follows the reader's light or dark
    # colour scheme.
    class ReportHtml
      # Styles with their own colours; all others share one.
      STYLES = %w[blocking callback deferrable direct].freeze

      # The headings of the charts, by the tables' short titles.
      TITLES = {"us/op" => "time an operation takes, µs", "CPU us/op" => "CPU time an operation takes, µs",
                "s" => "time for all, s"}.freeze

      class << self
        # @return [String] the text with µs for us
        def unit(title) = title.to_s.gsub(/\bus\b/, "µs")

        def style_class(style) = "style-#{STYLES.include?(style) ? style : "other"}"

        # The anchor of a sweep on the page.
        def id(sweep)
          "#{sweep.comparisons.first.experiment.name} #{sweep.race.name} #{sweep.pin}".downcase.gsub(/[^a-z0-9]+/, "-")
        end

        # @param latency [Float, nil] see {LatencySweep#overtakes}
        def overtaking(latency)
          return " not ahead of the baseline" unless latency
          latency.zero? ? " ahead from 0 ms on" : " ahead from #{NumberFormat.short(latency)} ms on"
        end
      end

      def initialize(comparisons, options, environment)
        @comparisons = comparisons
        @options = options
        @environment = environment.to_h
        @sweeps = LatencySweep.of(comparisons)
      end

      # @return [String] the whole page
      def to_s
        "<!DOCTYPE html>\n#{page}\n"
      end

      private

      def page
        Html.tag(:html, Html.tag(:head, Html.tag(:meta, charset: "utf-8"),
          Html.tag(:meta, name: "viewport", content: "width=device-width, initial-scale=1"),
          Html.tag(:meta, name: "color-scheme", content: "light dark"),
          Html.tag(:title, "Pelton lab: #{experiments.map(&:name).join(", ")}"),
          Html.tag(:style, Html::Markup.new(STYLE))),
          Html.tag(:body, header,
            Html.tag(:main, short, targets, experiments.map { |experiment| chapter(experiment) }, method), footer),
          lang: "en")
      end

      def experiments = @comparisons.map(&:experiment).uniq

      def header
        Html.tag(:header, Html::Markup.new(WHEEL), Html.tag(:div, Html.tag(:h1, "What async costs, what it gains"),
          Html.tag(:p, "Measured by Pelton #{@environment[:pelton]} on " \
            "#{@environment[:cpu] || @environment[:kernel]}, " \
            "#{NumberFormat.count(@environment[:usable_cores], "core")}, " \
            "#{@environment[:ruby][/\Aruby \S+/]}, #{@environment[:time].to_s[0, 10]}")))
      end

      def short
        Html.tag(:section, Html.tag(:h2, "In short"), Summary.new(@sweeps).to_html, trust)
      end

      # A paragraph that says how many ratios are certain.
      def trust
        ratios = @comparisons.flat_map(&:trust)
        return if ratios.empty?
        uncertain = ratios.count(false)
        share = "#{(Comparison::TRUST * 100).round} %"
        return Html.tag(:p, "All #{ratios.size} ratios are certain within #{share}.", busy) if uncertain.zero?
        Html.tag(:p, Html.tag(:span, "#{uncertain} of #{ratios.size} ratios, marked like this, are not certain " \
          "within #{share}. A quiet machine and more rounds help.", class: "uncertain"), busy)
      end

      def busy
        " #{Environment.busy(@environment)}" if Environment.busy(@environment)
      end

      def targets
        checks = @comparisons.flat_map(&:checks)
        return if checks.empty?
        verdicts = checks.map(&:verdict).tally
        counted = ["met", "missed", "not certain", "not measured"].filter_map do |verdict|
          "#{verdicts[verdict]} #{verdict}" if verdicts[verdict]
        end
        Html.tag(:section, Html.tag(:h2, "Targets"),
          Html.tag(:p, "Of #{checks.size}: #{counted.join(", ")}. Values within " \
            "#{((Target::TOLERANCE - 1) * 100).round} % of a limit meet it. " \
            "A verdict is not certain where the value's confidence interval includes the limit. Verdicts from fewer " \
            "than " \
            "#{Target::ROUNDS_FOR_A_VERDICT} rounds say how many there were.", class: "facts"), Tables.targets(checks))
      end

      def chapter(experiment)
        Html.tag(:section, Html.tag(:h2, experiment.name), Html.tag(:p, experiment.about, class: "about"),
          @sweeps.select { |sweep| sweep.comparisons.first.experiment == experiment }.map { |sweep| article(sweep) },
          class: "experiment")
      end

      def article(sweep)
        comparison = sweep.comparisons.first
        Html.tag(:article, Html.tag(:h3, sweep.race.name),
          (Html.tag(:p, sweep.race.about, class: "about") if sweep.race.about),
          Html.tag(:p, facts(sweep), class: "facts"),
          sweep.measured.empty? ? nil : [picture(sweep), (Tables.past(comparison.past, comparison) if comparison.past),
            tables(sweep)],
          absent(sweep),
          id: self.class.id(sweep))
      end

      def facts(sweep)
        comparison = sweep.comparisons.first
        [Pinning::NAMES[comparison.pin], "#{NumberFormat.delimit(comparison.size)} #{comparison.race.unit}",
          NumberFormat.count(comparison.rounds, "round"), comparison.server, comparison.line].compact.join(" · ")
      end

      def picture(sweep)
        return grids(sweep) if sweep.race.points
        return Lines.new(sweep).to_html if sweep.several?
        comparison = sweep.measured.first
        [comparison.race.metric, *sweep.race.also].map { |metric| titled(metric, Bars.new(comparison, metric).to_html) }
      end

      def titled(metric, bars)
        [Html.tag(:h4, TITLES.fetch(metric.title) { self.class.unit(metric.title) }), bars] unless bars.empty?
      end

      def grids(sweep)
        base = sweep.measured.map(&:reference).find { |result| result&.measured? }&.name or return
        names = sweep.rivals.reject { |name| sweep.race.find(name).baseline }
        Html.tag(:div, Html.tag(:p, "Up: #{sweep.race.points.title}. To the right: milliseconds of round trip. In " \
          "each field: the time of an operation divided by that of #{base}. ", Html.tag(:span, "faster than #{base}",
            class: "key ahead"), " ",
          Html.tag(:span, "slower", class: "key behind"),
          " On the dashed line one overtakes the other.", class: "facts"),
          Html.tag(:div, names.map { |name| Grid.new(sweep, name).to_html }, class: "grids"))
      end

      def tables(sweep)
        tables = sweep.measured.map do |comparison|
          Html.join([(Html.tag(:h4, "#{comparison.latency} ms") if comparison.latency),
            comparison.race.points ? Tables.points(comparison) : Tables.comparison(comparison)])
        end
        Html.tag(:details, Html.tag(:summary, "All measurements"), tables)
      end

      # The contenders that did not take part, with the reasons.
      def absent(sweep)
        reasons = sweep.comparisons.flat_map do |comparison|
          if comparison.skipped
            next ["#{"#{comparison.latency} ms " if comparison.latency}skipped: #{comparison.skipped}"]
          end
          comparison.absences
        end
        Html.tag(:ul, reasons.uniq.map { |reason| Html.tag(:li, reason) }, class: "absent") unless reasons.empty?
      end

      def method
        commands = @comparisons.map(&:commands).reject(&:empty?).inject({}) { |all, some| some.merge(all) }
        Html.tag(:section, Html.tag(:h2, "How it was measured"),
          Html.tag(:p, "Contenders take turns: in each round every contender is measured once, in a process of its " \
            "own, in a shuffled order, after an " \
            "untimed round in which every answer is checked. Bars and tables show medians, a dot is one round, the " \
            "dashed line is the " \
            "baseline's median. ×0.25 is a quarter of the baseline's time: the median of the ratios of neighbouring " \
            "rounds. ± is the 90 % " \
            "confidence interval, and amber means that it is wider than ±10 %. A round trip on one core and one " \
            "between two cores are two different things: compare within a picture."),
          Html.tag(:h4, "The command that repeats it"), Html.tag(:pre, @options.command),
          (Html.tag(:h4, "Processes that it started, among others") if commands.any?),
          (Html.tag(:pre, without_places(commands.values.join("\n"))) if commands.any?),
          Html.tag(:h4, "The machine and the versions"),
          Html.tag(:dl, machine.flat_map { |name, value| [Html.tag(:dt, name), Html.tag(:dd, value)] }))
      end

      # The page may be published, so it must not show the lab's path on this machine.
      def without_places(text)
        text.gsub("#{Dir.pwd}/", "").gsub("#{File.expand_path("../../../../..", __dir__)}/", "").gsub(Dir.home, "~")
      end

      def machine
        versions =
          @comparisons.flat_map(&:results).map(&:contender)
            .filter_map { |one| [one.gem || one.program, one.version] if one.version }.uniq
        {"processor" => @environment[:cpu], "cores" => "#{@environment[:usable_cores]} of #{@environment[:cores]}",
         "kernel" => @environment[:kernel],
         "ruby" => @environment[:ruby], "YJIT" => @environment[:yjit] ? "on" : "off",
         "pelton" => "#{@environment[:pelton]}#{" (#{@environment[:commit]})" if @environment[:commit]}",
         "servers" => @comparisons.filter_map(&:server).uniq.join("; "),
         "peers" => versions.map { |pair| pair.join(" ") }.join(", "),
         "load before" => @environment[:load], "when" => @environment[:time]}.reject { |_, value| value.to_s.empty? }
      end

      def footer
        Html.tag(:footer, "Made by pelton lab. A measurement means nothing without its machine, its versions and its " \
          "pinning: keep them together.")
      end
    end
  end
end
