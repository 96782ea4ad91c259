# frozen_string_literal: true

require_relative "../figures"
require_relative "../html"

module Pelton
  module Lab
    class ReportHtml
      # One heat as bars: medians, a dot for each round, a line where the baseline's median is.
      class Bars
        # What the scale leaves free beyond the longest median, for its dots.
        ROOM = 1.12

        # @param heat [Heat]
        # @param metric [Race::Metric] what the bars are; ratios to the baseline stand beside what the race compares
        def initialize(heat, metric = heat.race.metric)
          @heat = heat
          @metric = metric
          @results = heat.results.select { |result| result.median(@metric.name) }
          @longest = @results.map { |result| result.median(@metric.name) }.max.to_f * ROOM
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
            Html.tag(:div, Html.tag(:span, result.name, class: "name"), Html.tag(:span, style, class: "style"), class: "who"),
            Html.tag(:div, Html.tag(:i, class: "bar", style: "width:#{share(result.median(@metric.name))}%"), dots(result), class: "track", aria_hidden: "true"),
            Html.tag(:div, Html.tag(:b, Figures.number(result.median(@metric.name), @metric.digits)), " #{ReportHtml.unit(@metric.title[/[^,]+\z/].strip)}",
              ratio(result), class: "figure"),
            class: "row #{ReportHtml.style_class(style)}#{" base" if result == @heat.reference}", role: "listitem", title: title(result))
        end

        def dots(result)
          result.values(@metric.name).map { |value| Html.tag(:i, class: "dot", style: "left:#{share(value)}%") }
        end

        def ratio(result)
          return unless @metric == @heat.race.metric && base && result != @heat.reference && (ratio = @heat.ratio(result))
          doubtful = !@heat.trusted?(result)
          Html.tag(:span, "×#{Figures.short(ratio)}", class: doubtful ? "ratio doubtful" : "ratio", title: "times the baseline's, #{Figures.doubt(@heat.doubt(result))}")
        end

        def base
          @heat.reference&.median(@metric.name)
        end

        def share(value)
          (100.0 * value / @longest).clamp(0, 100).round(2)
        end

        def title(result)
          rounds = result.values(@metric.name).map { |value| Figures.number(value, @metric.digits) }
          "#{result.name}: #{rounds.join(", ")} #{ReportHtml.unit(@metric.title)} in #{Figures.count(rounds.size, "round")}"
        end
      end
    end
  end
end
