# frozen_string_literal: true

require "test_helper"
require "pelton/lab/report/html"

class LabStyleTest < PeltonTest
  CSS = Pelton::Lab::ReportHtml::STYLE

  def test_every_colour_is_declared_for_light_and_for_dark
    used = CSS.scan(/var\((--[a-z-]+)/).flatten.uniq - %w[--hue --side --strength --base --columns --rows]
    light, dark = CSS.scan(/:root \{(.*?)\}/m).flatten.map { |block| block.scan(/(--[a-z-]+):/).flatten }

    assert_empty used - light
    assert_equal light.sort, dark.sort
  end

  def test_every_style_of_contenders_has_a_colour
    [*Pelton::Lab::ReportHtml::STYLES, "other"].each { |style| assert_match(/\.style-#{style} \{ --hue/, CSS) }
  end

  def test_braces_match
    assert_equal CSS.count("{"), CSS.count("}")
  end
end
