# frozen_string_literal: true

require "test_helper"
require_relative "../../some_comparison"
require "pelton/lab/report/html"

class LabTablesTest < PeltonTest
  Tables = Pelton::Lab::ReportHtml::Tables

  # Rows of cells, without markup.
  def rows(html)
    html.scan(/<tr>(.*?)<\/tr>/).flatten.map do |row|
      row.scan(/<t[hd][^>]*>(.*?)<\/t[hd]>/).flatten.map { |cell| cell.gsub(/<[^>]+>/, " ").strip.squeeze(" ") }
    end
  end

  def test_all_measurements_of_a_comparison
    head, slow, fast = rows(Tables.comparison(SomeComparison.new))

    assert_equal ["", "size", "user", "system", "total", "real", "µs/op", "min – max", "RSS MB", "/ slow"], head
    assert_equal ["slow blocking", "20,000", "4.0000", "1.0000", "5.0000", "8.0000", "400.00", "300.00 – 500.00",
      "10", "1.000"], slow
    assert_equal "0.250 ±?", fast.last
  end

  def test_more_metrics
    head, _, fast = rows(Tables.comparison(SomeComparison.beside))

    assert_equal ["min – max", "keys, thousands", "RSS MB"], head[7, 3]
    assert_equal ["75.00 – 125.00", "3.5", "10"], fast[7, 3]
    assert_equal ["–", "keys", "≤ 4.00 k", "3.50 k", "not certain, 2 rounds"],
      rows(Tables.targets(SomeComparison.beside.checks)).last
  end

  def test_the_times_at_each_point
    assert_equal [["µs an operation, at once:", "1", "10"], ["slow blocking", "10.0", "10.0"],
      ["fast callback", "20.0", "5.00"]],
      rows(Tables.points(SomeComparison.grid.first))
  end

  def test_published_results_beside_today
    comparison = SomeComparison.grid.first
    comparison.past.instance_variable_set(:@size, 1_000_000)
    html = Tables.past(comparison.past, comparison)

    assert_includes html, "each scaled to 1,000,000 numbers"
    assert_equal ["then blocking", "1.50", "0.50", "2.00", "4.00", "1.00"], rows(html)[1]
    assert_equal ["later", "–", "–", "–", "8.00", "2.00"], rows(html)[2]
    assert_equal ["slow blocking", "1.00", "0.00", "1.00", "2.00", "1.00"], rows(html)[4]
  end

  def test_targets_by_row_with_their_verdicts
    _, *rows = rows(html = Tables.targets(SomeComparison.new(repeat: 4).checks))

    assert_equal [["1", "liar / slow", "≤ 0.50", "–", "not measured"], ["2", "fast / slow", "≤ 0.50", "0.25", "met"],
      ["3", "memory", "≤ 5 MB", "10 MB", "missed"]], rows
    assert_includes html, 'class="verdict missed" title="10 to 10"'
  end

  # An uncertain verdict must not be red.
  def test_a_target_that_is_not_certain
    html = Tables.targets(SomeComparison.new.checks)

    assert_equal ["3", "memory", "≤ 5 MB", "10 MB", "not certain, 2 rounds"], rows(html).last
    assert_includes html, 'class="verdict not-certain few-rounds"'
    assert_includes html, '<span class="uncertain" title="too few rounds'
    refute_match(/class="[^"]*missed/, html)
  end
end
