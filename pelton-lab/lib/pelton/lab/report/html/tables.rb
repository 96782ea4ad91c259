# frozen_string_literal: true

require_relative "../number_format"
require_relative "../markup"

module Pelton
  module Lab
    class ReportHtml
      # The figures of the charts, and published results.
      module Tables
        TIMES = %i[user system cpu real].freeze

        module_function

        # All measurements of a comparison.
        # @return [Html::Markup]
        def comparison(comparison)
          measured = comparison.results.select(&:measured?)
          metric = comparison.race.metric
          base = comparison.reference
          heads = ["", "size", "user", "system", "total", "real", ReportHtml.unit(metric.title), "min – max",
            *comparison.race.also.map { |one| ReportHtml.unit(one.title) },
            "RSS MB", *("/ #{base.name}" if base)]
          rows = measured.map do |result|
            [who(result.name, result.contender.style), NumberFormat.delimit(result.size),
              *TIMES.map { |time| NumberFormat.number(result.median(time), 4) },
              NumberFormat.number(result.median(metric.name), metric.digits), range(result, metric),
              *comparison.race.also.map { |one| NumberFormat.number(result.median(one.name), one.digits) },
              NumberFormat.number(result.median(:rss_mb), 0), *(ratio(comparison, result) if base)]
          end
          table(heads, rows)
        end

        # The times of a comparison's contenders at each point.
        def points(comparison)
          numbers = comparison.race.points.numbers
          rows = comparison.results.select(&:measured?).map do |result|
            [who(result.name,
              result.contender.style), *numbers.map { |number| NumberFormat.short(result.median(number.to_s.to_sym)) }]
          end
          table(["µs an operation, at once:", *numbers.map { |number| NumberFormat.delimit(number) }], rows)
        end

        # Published and new results, both as times for the same amount of work.
        def past(past, comparison)
          then_rows = past.rows.map do |row|
            times(who(row.name, row.style), [row.user, row.system, row.total, row.real], past.ratio(row))
          end
          now_rows = comparison.results.select(&:measured?).map do |result|
            scale = past.size ? past.size / result.size.to_f : 1
            times(who(result.name, result.contender.style), TIMES.map { |time| result.median(time) * scale },
              comparison.ratio(result))
          end
          Html.tag(:div, article(past.title, past.source, then_rows, 2),
            article("Today, on this machine",
              ("each scaled to #{NumberFormat.delimit(past.size)} #{comparison.race.unit}" if past.size), now_rows, 2),
            class: "then-now")
        end

        # The targets, with their verdicts.
        def targets(checks)
          rows = checks.sort_by { |check| check.target.order }.map do |check|
            target = check.target
            unit = " #{ReportHtml.unit(target.unit)}" if target.unit
            [target.row || "–", check.what, "≤ #{NumberFormat.number(target.limit, target.digits)}#{unit}",
              measured(check, unit), verdict(check)]
          end
          table(["row", "what", "limit", "measured", ""], rows, "targets")
        end

        def table(heads, rows, kind = nil)
          Html.tag(:div, Html.tag(:table,
            Html.tag(:thead, Html.tag(:tr, heads.map { |head| Html.tag(:th, head, scope: "col") })),
            Html.tag(:tbody, rows.map { |cells| Html.tag(:tr, cells.map { |cell| Html.tag(:td, cell) }) }),
            class: kind), class: "scroll", tabindex: "0")
        end

        def article(title, source, rows, digits)
          Html.tag(:div, Html.tag(:h4, title), Html.tag(:p, source, class: "facts"),
            table(["seconds", "user", "system", "total", "real", "/ first"],
              rows.map do |name, numbers, ratio|
                [name, *numbers.map { |number| number ? NumberFormat.number(number, digits) : "–" },
                  ratio ? NumberFormat.short(ratio) : "–"]
              end))
        end

        def times(name, numbers, ratio) = [name, numbers, ratio]

        def who(name, style)
          Html.tag(:span, name) + Html.tag(:span, style, class: "style #{ReportHtml.style_class(style)}")
        end

        def range(result, metric)
          result.range(metric.name).map { |value| NumberFormat.number(value, metric.digits) }.join(" – ")
        end

        def ratio(comparison, result)
          ratio = comparison.ratio(result) or return "–"
          text = "#{NumberFormat.number(ratio, 3)} #{NumberFormat.spread(comparison.spread(result))}"
          comparison.trusted?(result) ? text.strip : Html.tag(:span, text.strip, class: "uncertain")
        end

        # Marked where the verdict is uncertain.
        def measured(check, unit)
          return "–" unless check.value
          text = "#{NumberFormat.number(check.value, check.target.digits)}#{unit}"
          (check.verdict == "not certain") ? Html.tag(:span, text, class: "uncertain", title: interval(check)) : text
        end

        def interval(check)
          estimate, digits = check.estimate, check.target.digits
          return "too few rounds for a confidence interval" unless estimate.low
          "#{NumberFormat.number(estimate.low, digits)} to #{NumberFormat.number(estimate.high, digits)}"
        end

        def verdict(check)
          return Html.tag(:span, "not measured", class: "verdict", title: check.reason) unless check.value
          text = check.enough_rounds? ? check.verdict : "#{check.verdict}, #{NumberFormat.count(check.rounds, "round")}"
          Html.tag(:span, text,
            class: "verdict #{check.verdict.tr(" ", "-")}#{" few-rounds" unless check.enough_rounds?}",
            title: interval(check))
        end
      end
    end
  end
end
