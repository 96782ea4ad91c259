# frozen_string_literal: true

require_relative "api_fixture"

class SiteApiTextTest < SiteApiTestCase
  needs "api", "api_text"

  def test_references_become_links_and_code_stays
    with_api do |api|
      text = Site::ApiText.new(api)
      html = text.block(api.find("Pelton.run").docstring, api.find("Pelton.run"))

      assert_includes html, '<a href="Pelton/Stream.html#gets-instance_method"><code>Stream#gets</code></a>'
      assert_includes html, "<code>a {Not}</code>"
      assert_equal ["Pelton.run: {Gone}"], text.dangling
    end
  end

  def test_types_become_links
    with_api do |api|
      types = Site::ApiText.new(api).types(["Array<Stream>", "nil"], api.find("Pelton.run"))

      assert_equal 'Array&lt;<a href="Pelton/Stream.html">Stream</a>&gt;, nil', types
    end
  end

  def test_names_in_guides_become_links
    with_api do |api|
      text = Site::ApiText.new(api)
      link = ->(name) { text.link_names("<p><code>#{name}</code></p>", "guides/tls.html")[/href="([^"]+)"/, 1] }

      assert_equal "../api/Pelton.html#run-class_method", link.call("Pelton.run { }")
      assert_equal "../api/Pelton/Stream.html", link.call("Pelton::Stream")
      assert_equal "../api/Pelton/Stream.html#gets-instance_method", link.call("Stream#gets")
      assert_equal "../api/EventMachine.html#connect-class_method", link.call("EM.connect(...)")
      assert_nil link.call("Stream"), "may be anybody's"
      assert_nil link.call("Pelton.gone")
      ["<h2><code>Pelton.run</code></h2>", '<a href="x"><code>Pelton.run</code></a>', "<pre><code>Pelton.run</code></pre>"].each do |html|
        assert_equal html, text.link_names(html, "index.html")
      end
    end
  end
end
