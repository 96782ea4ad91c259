# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../some_heat"
require "pelton/lab/report_html"

class LabTablesTest < PeltonTest
  Tables = Pelton::Lab::ReportHtml::Tables

  # Rows of cells, without markup.
  def rows(html)
    html.scan(/<tr>(.*?)<\/tr>/).flatten.map { |row| row.scan(/<t[hd][^>]*>(.*?)<\/t[hd]>/).flatten.map { |cell| cell.gsub(/<[^>]+>/, " ").strip.squeeze(" ") } }
  end

  def test_all_figures_of_a_heat
    head, slow, fast = rows(Tables.heat(SomeHeat.new))

    assert_equal ["", "size", "user", "system", "total", "real", "µs/op", "min – max", "RSS MB", "/ slow"], head
    assert_equal ["slow blocking", "20,000", "4.0000", "1.0000", "5.0000", "8.0000", "400.00", "300.00 – 500.00", "10", "1.000"], slow
    assert_equal "0.250 ±?", fast.last
  end

  def test_figures_beside
    head, _, fast = rows(Tables.heat(SomeHeat.beside))

    assert_equal ["min – max", "keys, thousands", "RSS MB"], head[7, 3]
    assert_equal ["50.00 – 150.00", "3.5", "10"], fast[7, 3]
    assert_equal ["–", "keys", "≤ 4.00 k", "3.50 k", "met, 2 rounds"], rows(Tables.targets(SomeHeat.beside.checks)).last
  end

  def test_the_times_at_each_point
    assert_equal [["µs an operation, at once:", "1", "10"], ["slow blocking", "10.0", "10.0"], ["fast callback", "20.0", "5.00"]],
      rows(Tables.points(SomeHeat.grid.first))
  end

  def test_what_was_published_beside_today
    heat = SomeHeat.grid.first
    heat.past.instance_variable_set(:@size, 1_000_000)
    html = Tables.past(heat.past, heat)

    assert_includes html, "each scaled to 1,000,000 numbers"
    assert_equal ["then blocking", "1.50", "0.50", "2.00", "4.00", "1.00"], rows(html)[1]
    assert_equal ["later", "–", "–", "–", "8.00", "2.00"], rows(html)[2]
    assert_equal ["slow blocking", "1.00", "0.00", "1.00", "2.00", "1.00"], rows(html)[4]
  end

  def test_targets_by_row_with_their_verdicts
    _, *rows = rows(Tables.targets(SomeHeat.new.checks))

    assert_equal [["1", "liar / slow", "≤ 0.50", "–", "not measured"], ["2", "fast / slow", "≤ 0.50", "0.25", "met, 2 rounds"],
      ["3", "memory", "≤ 5 MB", "10 MB", "missed, 2 rounds"]], rows
  end
end
