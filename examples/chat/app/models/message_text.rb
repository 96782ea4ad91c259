# frozen_string_literal: true

require "cgi/escape"

# A message's plain text as HTML: everything is escaped, and blocks of code, code, links and mentions get their
# elements.
module MessageText
  PARTS = %r{
    ```\n?(?<block>.+?)```\n?
    | `(?<code>[^`\n]+)`
    | (?<url>https?://[^\s<>"'`]+)
    | (?<![\w@.])@(?<handle>[a-z0-9]+(?:\.[a-z0-9]+)*)
  }mxi
  # What a link ends with: the rest ends a sentence.
  LAST = /[^.,:;!?)\]]/

  class << self
    # @param text [String]
    # @return [String] HTML
    def html(text)
      result = +""
      until text.empty?
        before, _, text = text.partition(PARTS)
        part = $~
        result << plain(before)
        html, ending = element(part) if part
        result << html if part
        text = ending + text if part
      end
      result
    end

    # @return [Array<String>] whom the text mentions
    def handles(text)
      found = []
      text.scan(PARTS) { found << $~[:handle].downcase if $~[:handle] }
      found.uniq
    end

    private

    def escape(text) = CGI.escapeHTML(text)

    def plain(text) = escape(text).gsub("\n", "<br>\n")

    # @return [Array(String, String)] HTML, and what of the part's end does not belong to it
    def element(part)
      if part[:block] then ["<pre><code>#{escape(part[:block])}</code></pre>", ""]
      elsif part[:code] then ["<code>#{escape(part[:code])}</code>", ""]
      elsif part[:url] then link(part[:url])
      else ["<span class=\"mention\" data-handle=\"#{part[:handle].downcase}\">@#{part[:handle]}</span>", ""]
      end
    end

    def link(url)
      kept = url.rindex(LAST) + 1
      kept += 1 if url[kept] == ")" && url.include?("(")
      shown = escape(url[0, kept])
      ["<a href=\"#{shown}\" rel=\"noopener nofollow\" target=\"_blank\">#{shown}</a>", url[kept..]]
    end
  end
end
