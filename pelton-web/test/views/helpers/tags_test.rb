# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebTagsTest < PeltonTest
  def view = Pelton::Web::View.new

  def test_elements
    assert_equal '<p class="note warning" data-post-id="7" hidden>3 &lt; 4</p>',
      view.tag(:p, "3 < 4", class: ["note", {warning: true, no: false}], data: {post_id: 7}, hidden: true, title: nil)
    assert_equal "<br>", view.tag(:br)
    assert_equal "<p>&lt;</p>", view.tag(:p) { "<" }
  end

  def test_no_attribute_can_be_left_by_its_value
    quoting = view.tag(:p, title: '" onclick="x', class: Pelton::Web::HTML.new('a" b="'))

    assert_equal '<p class="a&quot; b=&quot;" title="&quot; onclick=&quot;x"></p>',
      quoting.sub(/<p (title="[^"]*") (class="[^"]*")>/, '<p \2 \1>')
  end

  def test_names_that_are_no_names_are_refused
    ["onclick=x", "a b", "a>", "", "a\0", "a/b"].each do |name|
      assert_raises(ArgumentError, name) { view.tag(:p, "", "#{name}": "x") }
    end
    ["p onclick", "p>", "", "1p"].each { |name| assert_raises(ArgumentError, name) { view.tag(name) } }
    assert_raises(ArgumentError) { view.tag(:p, data: {"x onclick": 1}) }
  end

  def test_raw_escape_and_safe_join
    assert_equal "<b>", view.raw("<b>")
    assert_equal "&lt;", view.h("<")
    assert_equal "<b>, &lt;, 7", view.safe_join([view.raw("<b>"), ["<", 7]], ", ")
  end

  # Of all helpers: whatever a value is, it stays inside its element or attribute, and the page is UTF-8.
  HOSTILE = ["</script><script>alert(1)</script>", '" onmouseover="x', "' onmouseover='x", "<!--", "&lt;b&gt;",
    "\xff<\"", "\xff<é\"'".b, "é<".encode("UTF-16LE"), "é<".encode("ISO-8859-1"),
    "\0<", nil, 7, :"<b>", ["<b>"], {"<b>" => "<i>"}, Pelton::Web::HTML.new("\" '"), "javascript:alert(1)",
    "x" * 10_000].freeze

  def test_hostile_values_leave_no_element_and_no_attribute
    HOSTILE.each do |value|
      text = value.is_a?(Pelton::Web::HTML) ? "" : value
      {h: [text], safe_join: [["é", text]], simple_format: [text], truncate: [text]}.each do |name, arguments|
        assert_closed "<p>é#{view.h(view.public_send(name, *arguments))}</p>", name, value
      end
      assert_closed view.tag(:p, text, title: value, class: [value], data: {x: value}), :tag, value
      assert_closed view.link_to(text, value, title: value), :link_to, value
      assert_closed view.button_to(text, value), :button_to, value
      assert_closed view.image_tag(value.to_s.encode("UTF-8", invalid: :replace, undef: :replace), alt: value),
        :image_tag, value
      assert_closed view.time_tag(Time.at(0), text, title: value), :time_tag, value
      assert_closed view.select_tag(value, [[text, value.to_s], ["g", [[text, 1]]]], selected: value, prompt: text ||
        "p", multiple: true), :select_tag, value
      unless value.to_s.encoding == Encoding::UTF_16LE
        assert_closed view.tag(:i,
          view.pluralize(1, value.to_s) + view.number_to_currency(value).to_s.then { |one| view.h(one) }),
          :pluralize, value
      end
      assert_closed view.tag(:script, view.json_escape([HTML_TEXT.call(value)]), type: "application/json"),
        :json_escape, value
    end
  end

  HTML_TEXT = ->(value) { value.is_a?(String) ? Pelton::Web::HTML.text(value).to_str : value }

  def test_addresses_that_are_programs_are_in_no_attribute
    ["javascript:x", " JaVaScRiPt:x", "java\nscript:x", "\u0001javascript:x", "java\0script:x", "vbscript:x",
      "data:text/html,x", "data:image/svg+xml,x"].each do |url|
      %i[href action formaction src].each do |name|
        assert_equal "<a #{name}=\"#\"></a>", view.tag(:a, "#{name}": url), url.inspect
      end
      assert_includes view.button_to("x", url), 'action="#"'
      assert_includes view.form_with(url: url) {}, 'action="#"'
      assert_match(%r{src="(?:#"|/)}, view.image_tag(url))
    end
    assert_equal '<img src="data:image/png;base64,AA==" title="javascript:x">',
      view.tag(:img, src: "data:image/png;base64,AA==", title: "javascript:x")
  end

  def test_json_in_a_script
    assert_equal '{"a":"\u003c/script\u003e\u0026\u0027\u2028\u2029","b":[1,null]}',
      view.json_escape({a: "</script>&'\u2028\u2029", b: [1, nil]})
    assert_equal '["\u003c"]', view.json_escape('["<"]')
    assert_equal ["</script>&'\u2028"], JSON.parse(view.json_escape(["</script>&'\u2028"]))
    assert_kind_of Pelton::Web::HTML, view.json_escape([])
    ["alert(1)", "[1]; alert(1)", "", "\xff"].each do |text|
      assert_raises(JSON::ParserError, text) { view.json_escape(text) }
    end
    assert_raises(JSON::GeneratorError) { view.json_escape([0.0 / 0]) }
  end

  private

  # Each "<" begins an element that a helper has made, and no attribute has the name of a handler.
  def assert_closed(html, name, value)
    message = "#{name} of #{value.inspect[0, 60]}: #{html.inspect[0, 300]}"

    assert_equal true, HTML_TEXT.call(html) == html.to_str || html.valid_encoding?, message
    assert_equal Encoding::UTF_8, html.encoding, message
    rest = html.to_str.scrub.gsub(%r{</?(?:p|a|b|i|br|img|form|button|time|input|select|option|optgroup|script)(?:\s+[\w-]+(?:="[^"<>]*")?)*>}) do |element|
      refute_match(/\son\w+=/, element.gsub(/"[^"]*"/, '""'), message)
      ""
    end

    refute_match(/[<>]/, rest, message)
  end
end
