# frozen_string_literal: true

require "test_helper"
require_relative "../../some_comparison"
require "pelton/lab/report/html"

class LabBarsTest < PeltonTest
  def html(comparison = SomeComparison.new) = Pelton::Lab::ReportHtml::Bars.new(comparison).to_html

  def test_a_bar_for_each_median_longest_first
    assert_equal %w[slow fast], html.scan(/class="name">(\w+)</).flatten
    assert_equal [89.29, 22.32], html.scan(/class="bar" style="width:([\d.]+)%/).flatten.map(&:to_f)
  end

  def test_a_dot_for_each_round_within_the_track
    assert_equal [66.96, 100.0, 16.74, 27.9], html.scan(/class="dot" style="left:([\d.]+)%/).flatten.map(&:to_f)
  end

  def test_a_line_where_the_baseline_is_and_the_ratio_to_it
    assert_match(/class="bars" role="list" style="--base:89.29%"/, html)
    assert_match(/class="ratio uncertain"[^>]*>×0.250</, html)
    assert_equal 1, html.scan('class="ratio').size
  end

  def test_another_metric_has_no_ratios
    comparison = SomeComparison.beside
    html = Pelton::Lab::ReportHtml::Bars.new(comparison, comparison.race.also.first).to_html

    assert_equal [89.29, 44.64], html.scan(/class="bar" style="width:([\d.]+)%/).flatten.map(&:to_f)
    assert_match(%r{<b>3\.5</b> thousands}, html)
    refute_includes html, "ratio"
  end

  def test_nothing_of_nothing
    assert_empty html(SomeComparison.new.tap { |comparison| comparison.results.each { |result| result.refuse("no") } })
  end
end
