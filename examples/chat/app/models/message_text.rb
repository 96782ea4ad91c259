# frozen_string_literal: true

# A message's plain text as HTML: everything is escaped, and blocks of code, code, links and mentions get their elements.
module MessageText
  PARTS = %r{
    ```\n?(?<block>.+?)```\n?
    | `(?<code>[^`\n]+)`
    | (?<url>https?://[^\s<>"'`]+)
    | (?<![\w@.])@(?<handle>[a-z0-9]+(?:\.[a-z0-9]+)*)
  }mxi
  # What ends a sentence rather than a link.
  PUNCTUATION = /[.,:;!?)\]]+\z/

  class << self
    # @param text [String]
    # @return [Pelton::Web::HTML]
    def html(text)
      result = +""
      rest = 0
      while (part = PARTS.match(text, rest))
        result << plain(text[rest...part.begin(0)])
        html, ending = element(part)
        result << html
        rest = part.end(0) - ending
      end
      Pelton::Web::HTML.new(result << plain(text[rest..]))
    end

    # @return [Array<String>] whom the text mentions
    def handles(text)
      found = []
      text.scan(PARTS) { found << $~[:handle].downcase if $~[:handle] }
      found.uniq
    end

    private

    def escape(text) = Pelton::Web::HTML.escape(text)

    def plain(text) = escape(text).gsub("\n", "<br>\n")

    # @return [Array(String, Integer)] HTML, and the number of characters at the end that do not belong to it
    def element(part)
      if part[:block] then ["<pre><code>#{escape(part[:block])}</code></pre>", 0]
      elsif part[:code] then ["<code>#{escape(part[:code])}</code>", 0]
      elsif part[:url] then link(part[:url])
      else ["<span class=\"mention\" data-handle=\"#{part[:handle].downcase}\">@#{part[:handle]}</span>", 0]
      end
    end

    def link(url)
      ending = url[PUNCTUATION].to_s
      ending = ending.delete_prefix(")") if ending.start_with?(")") && url.include?("(")
      url = url.delete_suffix(ending)
      ["<a href=\"#{escape(url)}\" rel=\"noopener nofollow\" target=\"_blank\">#{escape(url)}</a>", ending.size]
    end
  end
end
