# frozen_string_literal: true

require_relative "api_fixture"

class SiteApiPagesTest < SiteApiTestCase
  needs "api", "api_pages"

  def pages
    with_api { |api| (builder = Site::ApiPages.new(api, Site::ApiText.new(api))) && (yield builder, builder.pages.to_h { |page| [page.url, page] }) }
  end

  def test_a_page_for_each_object_and_their_list
    pages do |_, pages|
      assert_equal %w[api/index.html api/Pelton.html api/Pelton/Stream.html api/Pelton/Error.html api/EventMachine.html], pages.keys
      assert_includes pages["api/index.html"].html, '<a href="Pelton/Stream.html"><code>Pelton::Stream</code></a></dt><dd>Bytes.</dd>'
    end
  end

  def test_a_method_has_its_call_its_types_and_its_tags
    pages do |_, pages|
      page = pages["api/Pelton.html"]
      text = Site.text(page.html)

      assert_includes text, "Pelton.run(grace: 5) (?grace: Numeric) { () -> void } -> void asynchronous"
      assert_includes text, "Parameters grace Numeric, nil seconds Returns Stream a Stream Raises Error"
      assert_includes page.html, "#{Site::Links::REPOSITORY}blob/main/lib/pelton.rb#L9"
      assert_equal ["Classes and modules", "Class methods", "Pelton.run"], page.headings.map(&:text)
    end
  end

  def test_the_navigation_opens_the_group_of_the_page
    pages do |builder, pages|
      html = builder.navigation(pages["api/Pelton/Stream.html"])

      assert_match %r{<details open><summary>Runtime</summary>.*<a href="Stream.html" aria-current="page">Stream</a>}m, html
      assert_includes html, "<details><summary>Errors</summary>"
    end
  end
end
