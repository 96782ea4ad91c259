# frozen_string_literal: true

require_relative "helper"

class SiteCheckerTest < SiteTest
  needs "checker"

  SOURCE = "#{Site::Links::REPOSITORY}blob/main"
  GOOD = {
    "index.html" => '<h1 id="top">a</h1><a href="sub/b.html#x?">b</a><a href="#top">c</a><a href="https://example.com/gone">d</a>',
    "sub/b.html" => %(<h2 id="x?">x</h2><a href="../index.html">a</a><a href="#{SOURCE}/lib/a.rb#L1">s</a><script src="../search-index.js"></script>),
    "search-index.js" => 'window.siteIndex = [["sub/b.html#x?","B","x",""]];',
    "lib/a.rb" => ""
  }.freeze

  def checked(files) = repository(GOOD.merge(files)) { |root| yield Site::Checker.new(root, root) }

  def test_a_site_without_dead_links
    checked({}) { |checker| assert_equal [[], []], [checker.dead, checker.unreachable] }
  end

  def test_dead_links
    {'<a href="gone.html">' => "gone.html", '<a href="sub/b.html#gone">' => "sub/b.html#gone", '<img src="gone.png">' => "gone.png",
     "<a href=\"#{SOURCE}/gone.rb\">" => "#{SOURCE}/gone.rb", '<a href="#gone">' => "#gone"}.each do |html, link|
      checked("index.html" => GOOD["index.html"] + html) { |checker| assert_equal ["index.html: #{link}"], checker.dead }
    end
    checked("search-index.js" => 'window.siteIndex = [["gone.html","","",""]];') { |checker| assert_equal ["search: gone.html"], checker.dead }
  end

  def test_pages_that_nothing_leads_to
    checked("alone.html" => "") { |checker| assert_equal ["alone.html"], checker.unreachable }
  end
end
