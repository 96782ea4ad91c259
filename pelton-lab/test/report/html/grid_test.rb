# frozen_string_literal: true

require "test_helper"
require_relative "../../some_comparison"
require "pelton/lab/report/html"

class LabGridTest < PeltonTest
  def setup
    @html = Pelton::Lab::ReportHtml::Grid.new(Pelton::Lab::LatencySweep.new(SomeComparison.grid), "fast").to_html
  end

  def test_a_field_for_each_latency_and_number_the_most_at_once_above
    fields = @html.scan(/class="field (\w+)"[^>]*>([^<]+)</)

    assert_equal [%w[ahead 0.500], %w[ahead 0.090], %w[behind 2.00], %w[ahead 0.900]], fields
  end

  def test_the_further_from_one_the_stronger_the_colour
    half, tenth, twice, = @html.scan(/--strength:(\d+)%/).flatten.map(&:to_i)

    assert_operator tenth, :>, half
    assert_equal half, twice
  end

  # Between the two rows at 0 ms; below all of them at 10 ms.
  def test_the_line_goes_where_one_overtakes_the_other
    assert_includes @html, 'd="M0 50.0H50.0V100.0H100.0"'
  end
end
