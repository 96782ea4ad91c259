# frozen_string_literal: true

require_relative "../figures"
require_relative "../html"

module Pelton
  module Lab
    class ReportHtml
      # What a run has shown, in a card for each race: the asynchronous contender that did best, beside the baseline.
      class Summary
        UNIT = /\b(ms|us|s|MB|KB)\b/
        TIMES = %i[us_per_operation cpu_us_per_operation real cpu user system].freeze

        # @param sweeps [Array<Sweep>]
        def initialize(sweeps)
          @sweeps = sweeps
        end

        # @return [Html::Markup]
        def to_html
          Html.tag(:div, @sweeps.filter_map { |sweep| card(sweep) }, class: "cards")
        end

        private

        def card(sweep)
          return if sweep.measured.empty?
          big, text = found(sweep)
          return unless big
          heat = sweep.measured.first
          Html.tag(:a, Html.tag(:b, big), Html.tag(:span, text), Html.tag(:small, "#{heat.experiment.name}, #{heat.race.name}, #{Pinning::NAMES[heat.pin]}"),
            href: "##{ReportHtml.id(sweep)}", class: "card")
        end

        def found(sweep)
          return comparison(sweep.measured.first) unless sweep.race.points || sweep.several?
          return unless sweep.measured.all? { |heat| heat.reference&.measured? } # there is nothing to overtake
          sweep.race.points ? overtaking_at(sweep) : overtaking(sweep)
        end

        def comparison(heat)
          metric = heat.race.metric
          return absolute(heat, metric) unless heat.reference&.measured? && (rival = rival(heat))
          ratio = heat.ratio(rival)
          beside = "“#{rival.name}” beside “#{heat.reference.name}”"
          return ["#{Figures.times(ratio)}×", "as fast: #{beside}"] if TIMES.include?(metric.name) && ratio < 0.95
          ["#{Figures.short(ratio)}×", "the #{TIMES.include?(metric.name) ? "time" : words(metric)}: #{beside}"]
        end

        # The best of those that do not block; of them rather one that is not written in the baseline's style.
        def rival(heat)
          others = heat.results.select { |result| result.measured? && result != heat.reference && heat.ratio(result) }
          others = rather(others) { |style| style != "blocking" }
          rather(others) { |style| style != heat.reference.contender.style }.min_by { |result| heat.ratio(result) }
        end

        # Those, or all when there are none.
        def rather(results, &good)
          results.select { |result| good.call(result.contender.style) }.then { |found| found.empty? ? results : found }
        end

        def absolute(heat, metric)
          best, *others = heat.results.select { |result| result.median(metric.name) }.sort_by { |result| result.median(metric.name) }
          return unless best
          beside = "; #{Figures.short(others.last.median(metric.name))} with #{others.last.name}" if others.any?
          ["#{Figures.short(best.median(metric.name))} #{ReportHtml.unit(metric.title[UNIT])}".strip, "#{words(metric)}: #{best.name}#{beside}"]
        end

        # A title without its unit.
        def words(metric)
          metric.title.sub(UNIT, "").gsub(/\A\W+|\W+\z/, "").then { |text| text.empty? ? "time" : text }
        end

        def overtaking(sweep)
          name, latency = sweep.rivals.filter_map { |rival| sweep.overtakes(rival)&.then { |found| [rival, found] } }
            .min_by { |rival, found| [found, lead(sweep.measured.last, rival)] }
          return ["never", "no contender overtakes #{sweep.measured.first.reference.name}"] unless name
          base = sweep.measured.first.reference.name
          return ["from 0 ms", "#{name} is ahead of #{base} at every latency"] if latency.zero?
          ["from #{Figures.short(latency)} ms", "of round trip on, #{name} is ahead of #{base}"]
        end

        # How far ahead one is where it is furthest away.
        def lead(heat, name)
          heat.ratio(heat[name]) || 1
        end

        def overtaking_at(sweep)
          direct = sweep.measured.first
          name, number = sweep.rivals.filter_map { |rival| sweep.overtakes_at(direct, rival)&.then { |found| [rival, found] } }.min_by(&:last)
          return ["never", "at #{direct.latency} ms nobody overtakes #{direct.reference.name}"] unless name
          how_far = direct.latency.zero? ? "even right beside the server" : "at #{direct.latency} ms of round trip"
          ["from #{Figures.delimit(number.ceil)}", "#{sweep.race.points.title} on, #{name} is ahead of #{direct.reference.name}, #{how_far}"]
        end
      end
    end
  end
end
