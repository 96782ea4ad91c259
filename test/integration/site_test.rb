# frozen_string_literal: true

require_relative "../site/helper"
require_relative "../support/chromium"
require "pelton/http"
require "rack/files"

# The documentation site of this repository: its links, and its pages in a browser.
class DocumentationSiteTest < SiteTest
  self.deadline = 120
  needs "builder", "checker"

  class << self
    # The site is made once: its folder, its pages, and the docstrings' references that name nothing.
    def site
      @site ||= begin
        folder = Dir.mktmpdir
        Minitest.after_run { FileUtils.rm_rf(folder) }
        builder = Site::Builder.new(PeltonTest::ROOT)
        {folder: folder, pages: builder.build(folder), dangling: builder.text.dangling, api: builder.api}
      end
    end
  end

  def site = self.class.site

  def documents = site[:pages].reject(&:api?)

  def browse
    skip "no chromium" unless Chromium.path
    Chromium.open { |chromium| yield chromium }
  end

  def visit(chromium, url) = chromium.visit("file://#{site[:folder]}/#{url}")

  def test_yard_has_no_warning_of_a_docstring
    site

    refute YARD::Logger.instance.warned
  end

  def test_no_link_is_dead_and_each_page_is_reached
    checker = Site::Checker.new(site[:folder], ROOT)

    assert_empty checker.dead
    assert_empty checker.unreachable
    assert_empty site[:dangling], "references of docstrings that name nothing"
  end

  def test_the_navigation_of_each_page_has_each_document
    expected = documents.map(&:url) - ["documents.html"]
    %w[index.html guides/tls.html api/Pelton/Stream.html].each do |url|
      navigation = File.read(File.join(site[:folder], url))[%r{<nav id="navigation".*?</nav>}m]
      links = navigation.scan(/href="([^"]+)"/).map { |link,| File.expand_path(link, "/#{File.dirname(url)}").delete_prefix("/") }

      assert_empty expected - links, url
    end
  end

  # Includes the methods that C defines. Leaves out modules such as ...::Later, whose methods repeat those of another class.
  def test_each_public_method_of_the_runtime_is_documented
    undocumented = site[:api].signatures.methods.keys.grep(/\APelton(?:::(?:Stream|Task|Timer|Reactor|Operation|Deferrable|Listener|Semaphore))?[.#]/).reject do |path|
      method = site[:api].find(path)
      method && (!method.docstring.blank? || method.tags.any? || method.is_alias?)
    end

    assert_empty undocumented
  end

  def test_no_page_complains_or_is_too_wide_for_a_phone
    browse do |chromium|
      chromium.look(width: 390, height: 844)
      pages = documents + site[:pages].select(&:api?).max_by(6) { |page| page.html.size }
      troubles = pages.flat_map do |page|
        visit(chromium, page.url)
        wide = chromium.evaluate("document.documentElement.scrollWidth") - 390
        [*chromium.complaints, *("#{wide} pixels too wide" if wide > 0)].map { |trouble| "#{page.url}: #{trouble}" }
      end

      assert_empty troubles
    end
  end

  def test_it_is_as_light_or_dark_as_the_readers_system
    browse do |chromium|
      light, dark = [false, true].map do |scheme|
        chromium.look(dark: scheme)
        visit(chromium, "guides/tls.html")
        colours = chromium.evaluate("['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name])")
        colours.map { |colour| colour.scan(/\d+/).first(3).sum(&:to_i) }
      end

      assert_operator light[0], :>, light[1], "dark on light"
      assert_operator dark[0], :<, dark[1], "light on dark"
    end
  end

  def test_search_as_a_file_and_over_http
    files = Rack::Files.new(site[:folder])
    browse do |chromium|
      visit(chromium, "guides/tls.html")

      assert_finds chromium
      serving(files) do |url|
        chromium.visit("#{url}/guides/tls.html")

        assert_finds chromium
      end
    end
  end

  def test_the_menu_of_a_phone
    browse do |chromium|
      chromium.look(width: 390, height: 844)
      visit(chromium, "index.html")
      shown = "document.getElementById('navigation').checkVisibility()"

      refute chromium.evaluate(shown)
      chromium.evaluate("document.querySelector('.menu').click()")

      assert chromium.evaluate(shown)
    end
  end

  private

  def assert_finds(chromium)
    chromium.evaluate("document.querySelector('.search input').focus()")
    chromium.type("embedded memcached")
    eventually("a result") { chromium.evaluate("document.querySelectorAll('#results a').length").positive? }
    chromium.type(" zzz")

    assert_equal "Nothing found", chromium.evaluate("document.getElementById('results').textContent")
    chromium.evaluate("(() => { const input = document.querySelector('.search input'); input.value = 'Pelton.spawn'; input.dispatchEvent(new Event('input')) })()")

    assert_match %r{/api/Pelton\.html#spawn-class_method\z}, chromium.evaluate("document.querySelector('#results a').href")
    assert_empty chromium.complaints
  end

  def serving(app)
    port = Thread::Queue.new
    thread = Thread.new do
      Pelton.run do
        port << Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0").port
      end
    end
    yield "http://127.0.0.1:#{port.pop}"
  ensure
    thread&.kill&.join
  end
end
