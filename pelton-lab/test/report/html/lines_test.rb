# frozen_string_literal: true

require "test_helper"
require_relative "../../some_comparison"
require "pelton/lab/report/html"

class LabLinesTest < PeltonTest
  def setup
    @html = Pelton::Lab::ReportHtml::Lines.new(Pelton::Lab::LatencySweep.new(SomeComparison.sweep)).to_html
  end

  # 50 to 400 us, and a margin of 1.6 times. 100 us are a third of the way up.
  def test_a_line_for_each_contender_on_a_logarithmic_scale
    lines = @html.scan(/<polyline points="([^"]+)"/).flatten.map do |points|
      points.split.map { |point| point.split(",").map(&:to_f) }
    end

    up = (100 * (1 - Math.log(100 * 1.6 / 50) / Math.log(400 * 1.6 * 1.6 / 50))).round(2)

    assert_equal [[16.67, up], [50.0, up], [83.33, up]], lines[0]
    assert_equal 3, lines.size
    assert_operator lines[1][0][1], :<, lines[1][2][1], "the faster the lower"
  end

  def test_its_scales
    assert_equal ["50", "100", "200", "500"], @html.scan(/class="tick y"[^>]*>([^<]+)</).flatten
    assert_equal ["0", "1 ms", "2 ms"], @html.scan(/class="tick x"[^>]*>([^<]+)</).flatten
  end

  def test_the_legend_names_the_overtaking_latency
    legend = @html[/<ul.*<\/ul>/].gsub(/<[^>]+>/, "|").squeeze("|").split("|").reject(&:empty?)

    assert_equal ["slow", " the baseline", "fast", " ahead from 1.50 ms on", "never", " not ahead of the baseline"],
      legend
  end

  def test_without_the_baseline_nobody_overtakes_it
    comparisons = SomeComparison.sweep.each { |comparison| comparison["slow"].refuse("it lied") }
    html = Pelton::Lab::ReportHtml::Lines.new(Pelton::Lab::LatencySweep.new(comparisons)).to_html

    assert_equal 2, html.scan("<polyline").size
    refute_includes html, "ahead"
  end

  def test_lines_of_one_style_differ
    assert_equal [nil, nil, "7 4"], @html.scan(/<polyline[^>]*>/).map { |line| line[/dasharray="([^"]+)"/, 1] }
  end
end
