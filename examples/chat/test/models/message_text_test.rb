# frozen_string_literal: true

require "test_helper"

class MessageTextTest < Minitest::Test
  def html(text) = MessageText.html(text)

  def test_parts
    {
      "a\nb" => "a<br>\nb",
      "see https://example.com/a?b=1&c=2." => 'see <a href="https://example.com/a?b=1&amp;c=2" rel="noopener ' \
        'nofollow" target="_blank">https://example.com/a?b=1&amp;c=2</a>.',
      "(https://example.com/a_(b))" => '(<a href="https://example.com/a_(b)" rel="noopener nofollow" ' \
        'target="_blank">https://example.com/a_(b)</a>)',
      "`<b>` and `x`" => "<code>&lt;b&gt;</code> and <code>x</code>",
      "```\n<i>\n@ann\n```\nafter" => "<pre><code>&lt;i&gt;\n@ann\n</code></pre>after",
      "hi @Ann.Smith, me@example.com" => 'hi <span class="mention" data-handle="ann.smith">@Ann.Smith</span>, ' \
        "me@example.com",
      "`" => "`", "```" => "```", "" => "", "javascript:alert(1)" => "javascript:alert(1)"
    }.each { |text, expected| assert_equal expected, html(text) }
  end

  # No text gets an element or attribute of its own.
  def test_hostile_texts
    ["<script>alert(1)</script>", "https://x.example/\"onmouseover=alert(1)", "`<img src=x onerror=alert(1)>`",
      "```</code></pre><script>x</script>```",
      "@a\"><script>", "https://x.example/<script>", "<a href='javascript:x'>", "&lt;script&gt;",
      "\u2028<svg onload=x>"].each do |text|
      refute_match(/<(?!\/?(?:a|code|pre|span|br)\b)|<[^>]*\son/i, html(text), text)
    end
  end

  def test_handles
    assert_equal %w[ann bob.2], MessageText.handles("@ann `@code` @Bob.2, @ann ann@example.com")
  end

  def test_long_texts_take_no_time
    ["`" * 10_000, "```" * 3_333, "@" * 10_000, "https://" * 1_250, "(" * 10_000, "a@" * 5_000, "`\n" * 5_000,
      "https://#{"." * 9_990}a", "https://a#{")" * 9_990}", "é`x`" * 2_500].each do |text|
        assert_kind_of String, html(text)
      end
  end
end
