# frozen_string_literal: true

require "test_helper"
require_relative "../some_comparison"
require "json"
require "open3"
require "pelton/lab/environment"
require "pelton/lab/options"
require "pelton/lab/programs"
require "pelton/lab/report/html"
require "tmpdir"

# The report as a browser shows it, on narrow and on wide windows.
class LabReportTest < PeltonTest
  self.deadline = 120

  # Describes the layout of the page in its title.
  PROBE = <<~HTML
    <script>
      const box = (element) => element.getBoundingClientRect();
      const inside = (part, whole) => part.left >= whole.left - 1 && part.right <= whole.right + 1;
      const all = (selector) => [...document.querySelectorAll(selector)];
      document.querySelectorAll("details").forEach((details) => details.open = true);
      document.title = JSON.stringify({
        width: innerWidth,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        bars: all(".bar").map((bar) => [box(bar).width / box(bar.parentElement).width, box(bar).height > 8]),
        base: all(".bars").map((bars) => new Set([...bars.querySelectorAll(".track")].map((track) => box(track).left + ":" + box(track).width)).size),
        strays: all(".dot, .point").filter((dot) => !inside({left: box(dot).left + 5, right: box(dot).right - 5}, box(dot.parentElement))).length,
        hidden: all("h1, h2, h3, .name, .figure, .card b, .field, .legend li").filter((word) => box(word).width < 4 || !inside(box(word), {left: 0, right: innerWidth})).length,
        overlaps: all(".figure").filter((figure) => { const name = figure.parentElement.querySelector(".name"), a = box(figure), b = box(name);
          return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }).length,
        lines: all("polyline.line").map((line) => box(line).width > 50),
        fields: all(".fields").map((fields) => [fields.querySelectorAll(".field").length, box(fields.querySelector(".frontier")).width > 50]),
        colours: [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color],
      });
    </script>
  HTML

  def setup
    @chromium = Pelton::Lab::Programs.find("chromium") or skip "no chromium"
    @page = Pelton::Lab::ReportHtml.new([SomeComparison.new, *SomeComparison.sweep, *SomeComparison.grid],
      Pelton::Lab::Options.new([]), Pelton::Lab::Environment.new).to_s
  end

  def look(width, dark: false)
    Dir.mktmpdir do |folder|
      File.write(path = File.join(folder, "report.html"), @page.sub("</body>", "#{PROBE}</body>"))
      scheme = "--blink-settings=preferredColorScheme=#{dark ? 0 : 1}"
      text, = Open3.capture3(@chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=#{width},900",
        scheme,
        "--user-data-dir=#{folder}/profile", "--dump-dom", "file://#{path}")
      title = text[/<title>(.*?)<\/title>/m, 1] or flunk "chromium shows no page: #{text[0, 500]}"
      JSON.parse(CGI.unescapeHTML(title), symbolize_names: true)
    end
  end

  # Headless windows are at least 500 wide.
  def test_on_every_window_it_fits_and_its_pictures_are_right
    [500, 760, 1400].each do |width|
      seen = look(width)

      assert_equal [width, 0, 0, 0, 0], seen.values_at(:width, :overflow, :strays, :hidden, :overlaps), seen
      assert_equal [[0.89, true], [0.22, true]], seen[:bars].map { |share, high| [share.round(2), high] }
      assert_equal [1], seen[:base], "the baseline's line is at one place in all rows"
      assert_equal [true] * 3, seen[:lines]
      assert_equal [[4, true]], seen[:fields]
    end
  end

  def test_it_is_as_light_or_dark_as_the_readers_system
    light, dark = [false, true].map do |scheme|
      look(800, dark: scheme)[:colours].map { |colour| colour.scan(/\d+/).first(3).sum(&:to_i) }
    end

    assert_operator light[0], :>, light[1], "dark on light"
    assert_operator dark[0], :<, dark[1], "light on dark"
  end
end
