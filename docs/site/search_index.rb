# frozen_string_literal: true

require "json"

module Site
  # What search.js looks through: a section for each heading, as [URL, title of the page, heading, text]. It is a script and
  # not JSON, because a page that was opened as a file may load scripts alone.
  class SearchIndex
    def initialize
      @sections = []
    end

    # @param page [Page]
    def add(page)
      heading, id = nil
      page.html.split(%r{(<h[1-4] id="[^"]+">.*?</h[1-4]>)}m).each do |piece|
        if (found = piece.match(%r{\A<h[1-4] id="([^"]+)">(.*?)</h}m))
          id, heading = found[1], Site.text(found[2].sub(/<a class="anchor".*/m, ""))
        elsif heading || !piece.strip.empty?
          section(page, id, heading, Site.text(piece))
        end
      end
    end

    def to_s = "window.siteIndex = #{JSON.generate(@sections)};\n"

    private

    def section(page, id, heading, text)
      heading = nil if heading == page.title
      @sections << [(heading && id) ? "#{page.url}##{id}" : page.url, page.title, heading.to_s, text]
    end
  end
end
