# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/chromium"
require_relative "../../support/http/servers"
require_relative "../../../docs/site/documents"
require "open3"
require "rack/files"
require "tmpdir"

# The documentation site of this repository, as `rake docs` makes it: its links, and its pages in a browser.
class SiteBuildTest < PeltonTest
  include HttpServers

  self.deadline = 180

  GEMS = {"BUNDLE_GEMFILE" => File.join(ROOT, "gemfiles/docs.rb"), "BUNDLE_PATH" => File.join(ROOT, "tmp/docs_gems"),
          "BUNDLE_SILENCE_ROOT_WARNING" => "1"}.freeze
  DOCUMENTS = Site::Documents.new(ROOT).entries.map { |entry| Site::Documents.page(entry.path) }

  class << self
    # The site is made once.
    #
    # @return [Array(String, String, Process::Status)] its folder, and what was printed
    def site
      @site ||= begin
        folder = Dir.mktmpdir
        Minitest.after_run { FileUtils.rm_rf([folder, "#{folder}-source", "#{folder}-source-api"]) }
        environment = ENV.keys.grep(/\A(?:BUNDLE|RUBYOPT|RUBYLIB|GEM_PATH)/).to_h { |name| [name, nil] }.merge(GEMS)
        [folder, *Open3.capture2e(environment, "bundle", "exec", "ruby", "docs/site/build.rb", folder,
          chdir: PeltonTest::ROOT)]
      end
    end
  end

  def setup = Dir.exist?(GEMS["BUNDLE_PATH"]) || skip("bin/setup docs brings the gems of gemfiles/docs.rb")

  # The build fails for a dead link, for a docstring with a warning, and for a public method without one.
  def test_it_is_made
    _, output, status = self.class.site

    assert_predicate status, :success?, output
    assert_match(/\A\d+ documents and the API/, output)
  end

  def test_the_navigation_has_each_document
    navigation = read("guides/tls.html")[%r{<nav[^>]*id="site-nav".*?</nav>}m]
    links = navigation.scan(/href="([^"]+)"/).flatten

    assert_empty DOCUMENTS.map { |page| "/#{page.delete_suffix("index.html")}" }
      .reject { |page| links.any? { |link| link.delete_suffix("index.html") == page } }
  end

  def test_the_api_has_what_is_public
    stream = read("api/Pelton/Stream.html")

    assert_match(/id="gets-instance_method"/, stream, "a method in C")
    refute_match(/id="_/, stream)
    assert_path_exists File.join(folder, "api/Pelton/HTTP/Server.html")
    refute_path_exists File.join(folder, "api/Pelton/Cluster/Supervisor.html")
  end

  def test_no_page_complains_or_is_too_wide_for_a_phone
    browse do |chromium, url|
      chromium.look(width: 390, height: 844)
      troubles = [*DOCUMENTS, "reference/api.html"].flat_map do |page|
        chromium.visit("#{url}/#{page}")
        wide = chromium.evaluate("document.documentElement.scrollWidth") - 390
        [*chromium.complaints.grep_v(/favicon/), *("#{wide} pixels too wide" if wide > 0)].map do |trouble|
          "#{page}: #{trouble}"
        end
      end

      assert_empty troubles
    end
  end

  def test_it_is_as_light_or_dark_as_the_readers_system
    browse do |chromium, url|
      light, dark = [false, true].map do |scheme|
        chromium.look(dark: scheme)
        chromium.visit("#{url}/guides/tls.html")
        colours = chromium.evaluate("['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name])")
        colours.map { |colour| colour.scan(/\d+/).first(3).sum(&:to_i) }
      end

      assert_operator light[0], :>, light[1], "dark on light"
      assert_operator dark[0], :<, dark[1], "light on dark"
    end
  end

  def test_search_finds_documents_and_methods
    browse do |chromium, url|
      chromium.visit("#{url}/guides/tls.html")
      {"embedded memcached" => %r{/guides/memcached_server\.html},
       "Pelton.spawn" => %r{/reference/api\.html#pelton\z}}.each do |words, place|
        eventually("the search of #{words}") { results(chromium, words).any?(place) }
      end
    end
  end

  private

  def folder = self.class.site.first

  def read(page) = File.read(File.join(folder, page), encoding: "UTF-8")

  # The index is loaded by a request of the page's script: typing before that finds nothing.
  def results(chromium, words)
    chromium.evaluate("(() => { const input = document.getElementById('search-input'); input.focus(); input.value = " \
      "#{words.to_json}; input.dispatchEvent(new KeyboardEvent('keyup')); input.dispatchEvent(new Event('input')) })()")
    chromium.evaluate("[...document.querySelectorAll('#search-results a')].map((link) => link.href)")
  end

  def browse
    skip "no chromium" unless Chromium.path
    serving_on_a_thread(Rack::Files.new(folder)) do |port|
      Chromium.open { |chromium| yield chromium, "http://127.0.0.1:#{port}" }
    end
  end
end
