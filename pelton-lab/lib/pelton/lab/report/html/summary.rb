# frozen_string_literal: true

require_relative "../number_format"
require_relative "../markup"

module Pelton
  module Lab
    class ReportHtml
      # The results in short, a card for each race: the best asynchronous contender compared with the baseline.
      class Summary
        UNIT = /\b(ms|us|s|MB|KB)\b/
        TIMES = %i[us_per_operation cpu_us_per_operation real cpu user system].freeze

        # @param sweeps [Array<LatencySweep>]
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
          big, text, certain = found(sweep)
          return unless big
          comparison = sweep.measured.first
          Html.tag(:a, Html.tag(:b, big, class: ("uncertain" if certain == false)), Html.tag(:span, text),
            Html.tag(:small,
              "#{comparison.experiment.name}, #{comparison.race.name}, #{Pinning::NAMES[comparison.pin]}"),
            href: "##{ReportHtml.id(sweep)}", class: "card")
        end

        # The number, the text under it, and false where the number is not certain.
        def found(sweep)
          return single(sweep.measured.first) unless sweep.race.points || sweep.several?
          return unless sweep.measured.all? { |comparison| comparison.reference&.measured? } # there is none to overtake
          sweep.race.points ? overtaking_at(sweep) : overtaking(sweep)
        end

        # Times are compared as speeds on every card, also where the contender is slower.
        def single(comparison)
          metric = comparison.race.metric
          return absolute(comparison, metric) unless comparison.reference&.measured? && (rival = rival(comparison))
          ratio, base, certain = comparison.ratio(rival), "“#{comparison.reference.name}”", comparison.trusted?(rival)
          if TIMES.include?(metric.name)
            return ["#{NumberFormat.speed(ratio)}×", "as fast as #{base}: “#{rival.name}”", certain]
          end
          ["#{NumberFormat.short(ratio)}×", "#{words(metric)}: “#{rival.name}” / #{base}", certain]
        end

        # The best contender that does not block; preferably one that is not written in the baseline's style.
        def rival(comparison)
          others = comparison.results.select do |result|
            result.measured? && result != comparison.reference && comparison.ratio(result)
          end
          others = rather(others) { |style| style != "blocking" }
          rather(others) { |style| style != comparison.reference.contender.style }.min_by do |result|
            comparison.ratio(result)
          end
        end

        # The results whose style the block accepts, or all when it accepts none.
        def rather(results, &good)
          results.select { |result| good.call(result.contender.style) }.then { |found| found.empty? ? results : found }
        end

        def absolute(comparison, metric)
          best, *others = comparison.results.select { |result| result.median(metric.name) }.sort_by do |result|
            result.median(metric.name)
          end
          return unless best
          beside = "; #{NumberFormat.short(others.last.median(metric.name))} with #{others.last.name}" if others.any?
          ["#{NumberFormat.short(best.median(metric.name))} #{ReportHtml.unit(metric.title[UNIT])}".strip,
            "#{words(metric)}: #{best.name}#{beside}"]
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
          ["from #{NumberFormat.short(latency)} ms", "of round trip on, #{name} is ahead of #{base}"]
        end

        # The ratio at the longest latency.
        def lead(comparison, name)
          comparison.ratio(comparison[name]) || 1
        end

        def overtaking_at(sweep)
          direct = sweep.measured.first
          name, number =
            sweep.rivals.filter_map { |rival| sweep.overtakes_at(direct, rival)&.then { |found| [rival, found] } }
              .min_by(&:last)
          return ["never", "at #{direct.latency} ms no contender overtakes #{direct.reference.name}"] unless name
          how_far = direct.latency.zero? ? "even right beside the server" : "at #{direct.latency} ms of round trip"
          [
            "from #{NumberFormat.delimit(number.ceil)}",
            "#{sweep.race.points.title} on, #{name} is ahead of #{direct.reference.name}, #{how_far}"
          ]
        end
      end
    end
  end
end
