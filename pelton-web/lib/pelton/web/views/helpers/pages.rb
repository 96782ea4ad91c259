# frozen_string_literal: true

require_relative "tags"

module Pelton
  module Web
    module Helpers
      # Pagination links.
      module Pages
        # Links to a list's other pages: the previous and the next one and, if pages have numbers, those around, the
        # first and the last. Empty for a single page.
        #
        #     <%= page_links @posts %>
        #
        # @param page [Page] see {Controller::Paging#paginate}
        # @param previous [#to_s] the link's text
        # @param following [#to_s] the link's text
        # @param around [Integer] numbers on each side of this page's
        # @param attributes [Hash] for the element `nav`
        # @asynchronous
        def page_links(page, previous: "Previous", following: "Next", around: 2, **attributes)
          links = page.links
          return HTML.new("") unless links[:prev] || links[:next]
          parts = [(link_to(previous, links[:prev], rel: "prev") if links[:prev])]
          parts.concat(Pages._numbers(page, around).map { |number| Pages._number(self, page, number) }) if page.pages
          parts << link_to(following, links[:next], rel: "next") if links[:next]
          tag(:nav, safe_join(parts.compact, " "), class: "pages", "aria-label": "Pages", **attributes)
        end

        def self._number(view, page, number)
          return view.tag(:span, "…", class: "gap") unless number
          if number == page.number
            view.tag(:span, number, "aria-current": "page")
          else
            view.link_to(number, page.path(page: number))
          end
        end

        # nil is a gap.
        def self._numbers(page, around)
          shown = [1, *(page.number - around..page.number + around),
            page.pages].uniq.select { |number| number.between?(1, page.pages) }.sort
          shown.each_cons(2).flat_map { |one, other| (other - one > 1) ? [one, nil] : [one] } << shown.last
        end
      end
    end
  end
end
