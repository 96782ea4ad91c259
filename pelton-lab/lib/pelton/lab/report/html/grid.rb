# frozen_string_literal: true

require_relative "../number_format"
require_relative "../markup"

module Pelton
  module Lab
    class ReportHtml
      # A latency sweep of a race with points as a map: the latency to the right, the operations at once upwards, the
      # ratio to the baseline in each field. A line separates the fields where the contender is ahead from the others.
      class Grid
        # The logarithm of the ratio that has the full colour, and that colour's strength in percent.
        FULL = Math.log(100)
        DARKEST = 62

        # @param sweep [LatencySweep]
        # @param name [String] the contender
        def initialize(sweep, name)
          @sweep = sweep
          @name = name
          @comparisons = sweep.measured
          @numbers = sweep.race.points.numbers
        end

        # @return [Html::Markup]
        def to_html
          Html.tag(:figure, Html.tag(:figcaption, Html.tag(:b, @name),
            " / #{@comparisons.filter_map { |comparison| comparison.reference&.name }.first}"),
            Html.tag(:div, Html.tag(:div,
              @numbers.reverse.map { |number| Html.tag(:span, NumberFormat.delimit(number)) }, class: "ticks y"),
              Html.tag(:div, fields, frontier, class: "fields",
                style: "--columns:#{@comparisons.size};--rows:#{@numbers.size}"),
              Html.tag(:div, @comparisons.map { |comparison| Html.tag(:span, comparison.latency) }, class: "ticks x",
                style: "--columns:#{@comparisons.size}"),
              class: "map", role: "img",
              aria_label: "#{@name}: ratio to the baseline by latency and #{@sweep.race.points.title}"),
            class: "grid")
        end

        private

        def fields
          @numbers.reverse.flat_map do |number|
            @comparisons.map { |comparison| field(comparison, number, @sweep.point(comparison, @name, number)) }
          end
        end

        def field(comparison, number, ratio)
          return Html.tag(:span, "-", class: "field") unless ratio
          side = (ratio < 1) ? "ahead" : "behind"
          strength = (DARKEST * (Math.log(ratio).abs / FULL).clamp(0, 1) + 4).round
          Html.tag(:span, NumberFormat.short(ratio), class: "field #{side}", style: "--strength:#{strength}%",
            title: "#{comparison.latency} ms, #{NumberFormat.delimit(number)} at once: ×#{NumberFormat.short(ratio)} " \
              "(#{NumberFormat.spread(comparison.spread(comparison[@name], number.to_s.to_sym))})")
        end

        # The steps of the separating line.
        def frontier
          heights = @comparisons.map { |comparison| height(@sweep.overtakes_at(comparison, @name)) }
          steps = heights.each_with_index.map do |y, index|
            "#{"M0 " if index.zero?}#{"V" unless index.zero?}#{y}H#{((index + 1) * 100.0 / @comparisons.size).round(2)}"
          end
          Html.tag(:svg, Html.tag(:path, d: steps.join, class: "frontier"), viewBox: "0 0 100 100",
            preserveAspectRatio: "none")
        end

        # The line's distance from the top, in percent, below the first field from which on the contender stays ahead:
        # the bottom where it is ahead in all fields, the top where it is in none.
        def height(number)
          below = number ? @numbers.count { |one| one < number } : @numbers.size
          (100 - below * 100.0 / @numbers.size).round(2)
        end
      end
    end
  end
end
