# frozen_string_literal: true

require_relative "../figures"
require_relative "../html"

module Pelton
  module Lab
    class ReportHtml
      # The figures behind the pictures, and what others published.
      module Tables
        TIMES = %i[user system cpu real].freeze

        module_function

        # Everything that was measured in a heat.
        # @return [Html::Markup]
        def heat(heat)
          measured = heat.results.select(&:measured?)
          metric = heat.race.metric
          base = heat.reference
          heads = ["", "size", "user", "system", "total", "real", ReportHtml.unit(metric.title), "min – max", *heat.race.also.map { |one| ReportHtml.unit(one.title) },
            "RSS MB", *("/ #{base.name}" if base)]
          rows = measured.map do |result|
            [who(result.name, result.contender.style), Figures.delimit(result.size),
              *TIMES.map { |time| Figures.number(result.median(time), 4) },
              Figures.number(result.median(metric.name), metric.digits), range(result, metric),
              *heat.race.also.map { |one| Figures.number(result.median(one.name), one.digits) }, Figures.number(result.median(:rss_mb), 0), *(ratio(heat, result) if base)]
          end
          table(heads, rows)
        end

        # What a heat's contenders took at each point.
        def points(heat)
          numbers = heat.race.points.numbers
          rows = heat.results.select(&:measured?).map do |result|
            [who(result.name, result.contender.style), *numbers.map { |number| Figures.short(result.median(number.to_s.to_sym)) }]
          end
          table(["µs an operation, at once:", *numbers.map { |number| Figures.delimit(number) }], rows)
        end

        # What was published beside what was measured now, both as times for as much work.
        def past(past, heat)
          then_rows = past.rows.map { |row| times(who(row.name, row.style), [row.user, row.system, row.total, row.real], past.ratio(row)) }
          now_rows = heat.results.select(&:measured?).map do |result|
            scale = past.size ? past.size / result.size.to_f : 1
            times(who(result.name, result.contender.style), TIMES.map { |time| result.median(time) * scale }, heat.ratio(result))
          end
          Html.tag(:div, article(past.title, past.source, then_rows, 2),
            article("Today, on this machine", ("each scaled to #{Figures.delimit(past.size)} #{heat.race.unit}" if past.size), now_rows, 2),
            class: "then-now")
        end

        # The targets, with their verdicts.
        def targets(checks)
          rows = checks.sort_by { |check| check.target.order }.map do |check|
            target = check.target
            unit = " #{ReportHtml.unit(target.unit)}" if target.unit
            [target.row || "–", check.what, "≤ #{Figures.number(target.limit, target.digits)}#{unit}",
              measured(check, unit), verdict(check)]
          end
          table(["row", "what", "limit", "measured", ""], rows, "targets")
        end

        def table(heads, rows, kind = nil)
          Html.tag(:div, Html.tag(:table, Html.tag(:thead, Html.tag(:tr, heads.map { |head| Html.tag(:th, head, scope: "col") })),
            Html.tag(:tbody, rows.map { |cells| Html.tag(:tr, cells.map { |cell| Html.tag(:td, cell) }) }), class: kind), class: "scroll", tabindex: "0")
        end

        def article(title, source, rows, digits)
          Html.tag(:div, Html.tag(:h4, title), Html.tag(:p, source, class: "facts"),
            table(["seconds", "user", "system", "total", "real", "/ first"],
              rows.map { |name, numbers, ratio| [name, *numbers.map { |number| number ? Figures.number(number, digits) : "–" }, ratio ? Figures.short(ratio) : "–"] }))
        end

        def times(name, numbers, ratio) = [name, numbers, ratio]

        def who(name, style)
          Html.tag(:span, name) + Html.tag(:span, style, class: "style #{ReportHtml.style_class(style)}")
        end

        def range(result, metric)
          result.range(metric.name).map { |value| Figures.number(value, metric.digits) }.join(" – ")
        end

        def ratio(heat, result)
          ratio = heat.ratio(result) or return "–"
          text = "#{Figures.number(ratio, 3)} #{Figures.doubt(heat.doubt(result))}"
          heat.trusted?(result) ? text.strip : Html.tag(:span, text.strip, class: "doubtful")
        end

        # What another run may not find again is marked.
        def measured(check, unit)
          return "–" unless check.figure
          text = "#{Figures.number(check.figure, check.target.digits)}#{unit}"
          (check.doubt && check.doubt <= Heat::TRUST) ? text : Html.tag(:span, text, class: "doubtful", title: Figures.doubt(check.doubt))
        end

        def verdict(check)
          return Html.tag(:span, "not measured", class: "verdict", title: check.reason) unless check.figure
          text = check.sure? ? check.verdict : "#{check.verdict}, #{Figures.count(check.rounds, "round")}"
          Html.tag(:span, text, class: "verdict #{check.verdict}#{" unsure" unless check.sure?}", title: Figures.doubt(check.doubt))
        end
      end
    end
  end
end
