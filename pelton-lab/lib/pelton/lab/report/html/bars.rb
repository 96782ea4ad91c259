# frozen_string_literal: true

require_relative "../number_format"
require_relative "../markup"

module Pelton
  module Lab
    class ReportHtml
      # One comparison as bars: medians, a dot for each round, a line at the baseline's median.
      class Bars
        # Space beyond the longest median, for its dots.
        HEADROOM = 1.12

        # @param comparison [Comparison]
        # @param metric [Race::Metric] the length of the bars; ratios to the baseline are shown with the race's own
        #   metric only
        def initialize(comparison, metric = comparison.race.metric)
          @comparison = comparison
          @metric = metric
          @results = comparison.results.select { |result| result.median(@metric.name) }
          @longest = @results.map { |result| result.median(@metric.name) }.max.to_f * HEADROOM
        end

        # @return [Html::Markup]
        def to_html
          return Html.join([]) if @results.empty? || @longest.zero?
          Html.tag(:div, @results.sort_by { |result| -result.median(@metric.name) }.map { |result| row(result) },
            class: "bars", role: "list", style: base && "--base:#{share(base)}%")
        end

        private

        def row(result)
          style = result.contender.style
          Html.tag(:div,
            Html.tag(:div, Html.tag(:span, result.name, class: "name"), Html.tag(:span, style, class: "style"),
              class: "who"),
            Html.tag(:div, Html.tag(:i, class: "bar", style: "width:#{share(result.median(@metric.name))}%"),
              dots(result), class: "track", aria_hidden: "true"),
            Html.tag(:div, Html.tag(:b, NumberFormat.number(result.median(@metric.name), @metric.digits)),
              " #{ReportHtml.unit(@metric.title[/[^,]+\z/].strip)}",
              ratio(result), class: "figure"),
            class: "row #{ReportHtml.style_class(style)}#{" base" if result == @comparison.reference}",
            role: "listitem", title: title(result))
        end

        def dots(result)
          result.values(@metric.name).map { |value| Html.tag(:i, class: "dot", style: "left:#{share(value)}%") }
        end

        def ratio(result)
          unless @metric == @comparison.race.metric && base && result != @comparison.reference &&
              (ratio = @comparison.ratio(result))
            return
          end
          certain = @comparison.trusted?(result)
          Html.tag(:span, "×#{NumberFormat.short(ratio)}", class: certain ? "ratio" : "ratio uncertain",
            title: "times the baseline's, #{NumberFormat.spread(@comparison.spread(result))}")
        end

        def base
          @comparison.reference&.median(@metric.name)
        end

        def share(value)
          (100.0 * value / @longest).clamp(0, 100).round(2)
        end

        def title(result)
          rounds = result.values(@metric.name).map { |value| NumberFormat.number(value, @metric.digits) }
          "#{result.name}: #{rounds.join(", ")} #{ReportHtml.unit(@metric.title)} in " \
          "#{NumberFormat.count(rounds.size, "round")}"
        end
      end
    end
  end
end
