# frozen_string_literal: true

require_relative "../figures"
require_relative "../html"

module Pelton
  module Lab
    class ReportHtml
      # A sweep of a race with points as a map: latency to the right, how much at once upwards, each field the ratio to the
      # baseline. Through it goes the line where one overtakes the other.
      class Grid
        # A ratio of a hundredth, or of a hundred, has the full colour.
        FULL = Math.log(100)
        DARKEST = 62

        # @param sweep [Sweep]
        # @param name [String] the contender
        def initialize(sweep, name)
          @sweep = sweep
          @name = name
          @heats = sweep.measured
          @numbers = sweep.race.points.numbers
        end

        # @return [Html::Markup]
        def to_html
          Html.tag(:figure, Html.tag(:figcaption, Html.tag(:b, @name), " / #{@heats.filter_map { |heat| heat.reference&.name }.first}"),
            Html.tag(:div, Html.tag(:div, @numbers.reverse.map { |number| Html.tag(:span, Figures.delimit(number)) }, class: "ticks y"),
              Html.tag(:div, fields, frontier, class: "fields", style: "--columns:#{@heats.size};--rows:#{@numbers.size}"),
              Html.tag(:div, @heats.map { |heat| Html.tag(:span, heat.latency) }, class: "ticks x", style: "--columns:#{@heats.size}"),
              class: "map", role: "img", aria_label: "#{@name}: ratio to the baseline by latency and #{@sweep.race.points.title}"),
            class: "grid")
        end

        private

        def fields
          @numbers.reverse.flat_map { |number| @heats.map { |heat| field(heat, number, @sweep.point(heat, @name, number)) } }
        end

        def field(heat, number, ratio)
          return Html.tag(:span, "-", class: "field") unless ratio
          side = (ratio < 1) ? "ahead" : "behind"
          strength = (DARKEST * (Math.log(ratio).abs / FULL).clamp(0, 1) + 4).round
          Html.tag(:span, Figures.short(ratio), class: "field #{side}", style: "--strength:#{strength}%",
            title: "#{heat.latency} ms, #{Figures.delimit(number)} at once: ×#{Figures.short(ratio)} (#{Figures.doubt(heat.doubt(heat[@name], number.to_s.to_sym))})")
        end

        # The line between the fields where one is ahead and the others, in steps.
        def frontier
          heights = @heats.map { |heat| height(@sweep.overtakes_at(heat, @name)) }
          steps = heights.each_with_index.map { |y, index| "#{"M0 " if index.zero?}#{"V" unless index.zero?}#{y}H#{((index + 1) * 100.0 / @heats.size).round(2)}" }
          Html.tag(:svg, Html.tag(:path, d: steps.join, class: "frontier"), viewBox: "0 0 100 100", preserveAspectRatio: "none")
        end

        # How far from the top, in %, the first field is that is ahead for good; all are above the bottom, none below the top.
        def height(number)
          below = number ? @numbers.count { |one| one < number } : @numbers.size
          (100 - below * 100.0 / @numbers.size).round(2)
        end
      end
    end
  end
end
