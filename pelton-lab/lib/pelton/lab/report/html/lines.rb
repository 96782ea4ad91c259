# frozen_string_literal: true

require_relative "../number_format"
require_relative "../markup"

module Pelton
  module Lab
    class ReportHtml
      # A latency sweep as lines: the metric against the latency, on a logarithmic scale. The lines are SVG that
      # stretches with the window; the labels are HTML, so that they keep their size.
      class Lines
        # Space above the highest point and below the lowest, as a factor.
        HEADROOM = 1.6
        # Tells lines of one style apart.
        DASHES = [nil, "7 4", "2 4", "10 3 2 3", "1 6"].freeze

        # @param sweep [LatencySweep]
        def initialize(sweep)
          @sweep = sweep
          @metric = sweep.race.metric
          @names = sweep.measured.flat_map { |comparison| comparison.results.select(&:measured?).map(&:name) }.uniq
          values = @names.flat_map { |name| curve(name).map(&:last) }
          @low = values.min / HEADROOM
          @high = values.max * HEADROOM
        end

        # @return [Html::Markup]
        def to_html
          Html.tag(:figure,
            Html.tag(:div, scale, Html.tag(:svg, guides, @names.map { |name| line(name) },
              viewBox: "0 0 100 100", preserveAspectRatio: "none"),
              @names.map { |name| dots(name) }, axis, class: "plot", role: "img", aria_label: caption),
            legend, Html.tag(:figcaption, caption), class: "lines")
        end

        private

        def caption
          "#{ReportHtml.unit(@metric.title)} (logarithmic) against the round trip that the proxy adds"
        end

        # Pairs of a share of the width (percent) and a value, one for each latency.
        def curve(name)
          comparisons = @sweep.measured
          comparisons.each_with_index.filter_map do |comparison, index|
            value = comparison[name]&.median(@metric.name)
            [across(index), value] if value&.positive?
          end
        end

        def across(index) = (100 * (index + 0.5) / @sweep.measured.size).round(2)

        def up(value) = (100 * (1 - Math.log(value / @low) / Math.log(@high / @low))).round(2)

        # The powers of ten; where they are few, their multiples by 2 and 5 as well.
        def marks
          @marks ||= [[1], [1, 2, 5]].map do |multiples|
            powers = (Math.log10(@low).floor..Math.log10(@high).ceil)
            powers.flat_map { |power| multiples.map { |multiple| multiple * 10r**power } }.select do |value|
              value.between?(@low, @high)
            end
          end.then { |few, many| (few.size > 1) ? few : many }
        end

        def guides
          marks.map { |value| Html.tag(:path, d: "M0 #{up(value)}H100", class: "guide") }
        end

        def scale
          marks.map do |value|
            Html.tag(:span, NumberFormat.delimit((value >= 1) ? value.to_i : value.to_f), class: "tick y",
              style: "top:#{up(value)}%")
          end
        end

        def axis
          @sweep.measured.each_with_index.map do |comparison, index|
            Html.tag(:span, comparison.latency.zero? ? "0" : "#{comparison.latency} ms", class: "tick x",
              style: "left:#{across(index)}%")
          end
        end

        def line(name)
          points = curve(name).map { |x, value| "#{x},#{up(value)}" }
          Html.tag(:polyline, points: points.join(" "), class: "line #{style(name)}", stroke_dasharray: dash(name))
        end

        def dots(name)
          curve(name).map do |x, value|
            Html.tag(:i, class: "point #{style(name)}", style: "left:#{x}%;top:#{up(value)}%",
              title: "#{name}: #{NumberFormat.number(value, @metric.digits)} #{ReportHtml.unit(@metric.title)}")
          end
        end

        def legend
          Html.tag(:ul, @names.map do |name|
            Html.tag(:li, Html.tag(:svg,
              Html.tag(:path, d: "M0 6H28", class: "line #{style(name)}", stroke_dasharray: dash(name)),
              viewBox: "0 0 28 12", width: 28, height: 12, aria_hidden: "true"), name, Html.tag(:small, verdict(name)))
          end, class: "legend")
        end

        def verdict(name)
          return unless @sweep.measured.any? { |comparison| comparison.reference&.measured? }
          return " the baseline" unless @sweep.rivals.include?(name)
          ReportHtml.overtaking(@sweep.overtakes(name))
        end

        def style(name) = ReportHtml.style_class(contender(name).style)

        def contender(name) = @sweep.race.find(name)

        # Solid for the first line of its style, dashes for the others.
        def dash(name)
          DASHES[@names.select { |other| contender(other).style == contender(name).style }.index(name) % DASHES.size]
        end
      end
    end
  end
end
