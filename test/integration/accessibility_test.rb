# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/accessibility"

# Each rule finds its fault.
class AccessibilityTest < PeltonTest
  include Accessibility

  self.deadline = 60

  GOOD = <<~HTML
    <!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,"><style>button, input { min-height: 2rem; min-width: 2rem }</style>
    <main><h1>Page</h1><p>Words</p><ul><li>one</li></ul><a href="#x" id="x">Link</a> <button>Button</button> <input aria-label="Field"></main>
  HTML
  BAD = {
    "no language" => ["<html lang=\"en\">", "<html>"], "no title" => ["<title>Page</title>", ""],
    "id twice" => ["<p>", "<p id=\"x\">"], "not one main" => ["</main>", "</main><main></main>"],
    "not one h1" => ["<h1>", "<h1>Another</h1><h1>"], "heading level skipped" => ["<p>", "<h3>Sub</h3><p>"],
    "two landmarks alike" => ["<p>", "<nav></nav><nav></nav><p>"],
    "two searches" => ["<p>",
      "<div role=\"search\" aria-label=\"a\"></div><div role=\"search\" aria-label=\"b\"></div><p>"],
    "no item in a list" => ["<li>", "<div>x</div><li>"],
    "no alt" => ["<p>", "<img src=\"data:,\"><p>"],
    "aria-controls leads nowhere" => ["<p>", "<p aria-controls=\"y\">"],
    "hidden, with the focus" => ["<ul>", "<p aria-hidden=\"true\"><button>x</button></p><ul>"],
    "tabindex" => ["<button>", "<button tabindex=\"3\">"],
    "one control in another" => ["Link", "<span role=\"button\" tabindex=\"0\">x</span>"],
    "no option" => ["<p>", "<div role=\"listbox\" aria-label=\"l\"><b>x</b></div><p>"],
    "scrolls, but not by keys" => ["<p>", "<div style=\"height: 9px; overflow-y: scroll\">a<br>b</div><p>"],
    "contrast" => ["<p>", "<p style=\"color: #999\">"], "scrolls sideways" => ["<p>", "<p style=\"width: 3000px\">"],
    "small" => ["<button>", "<button style=\"min-height: 9px; height: 9px\">"],
    "no name: button" => [">Button<", "><"], "no name: textbox" => [" aria-label=\"Field\"", ""]
  }.freeze

  def setup
    super
    skip "Chromium is not installed" unless Chromium.path
  end

  def test_a_page_without_faults_and_one_for_each_rule
    Chromium.open do |browser|
      look = lambda do |html|
        browser.visit("data:text/html;charset=utf-8,#{URI.encode_www_form_component(html).gsub("+", "%20")}")
        faults(browser).map { |line| line[/\A(?:contrast|small|no name: \w+|[^:]+)/] }.uniq
      end

      assert_empty look.call(GOOD)
      BAD.each { |rule, (from, to)| assert_includes look.call(GOOD.sub(from, to)), rule }
    end
  end

  def test_what_the_keyboard_does_not_reach
    Chromium.open do |browser|
      browser.visit(
        "data:text/html,<a href=x>one</a><button tabindex=-1>two</button><a href=y style='outline:none'>three</a>"
      )
      stops = tab_stops(browser)

      assert_equal 2, stops["count"]
      assert_equal 1, stops["unmarked"].size
      assert_match(/two/, stops["missed"].join)
    end
  end
end
