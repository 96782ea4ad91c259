# frozen_string_literal: true

require_relative "tags"

module Pelton
  module Web
    module Helpers
      # Links to the pages of a list.
      module Pages
        # Links to the other pages of a list, for the readers of a page: to the one before, the one after, and, where pages have numbers, to those
        # around, the first and the last. Empty for a list that has one page.
        #
        #     <%= page_links @posts %>
        #
        # @param page [Page] see {Controller::Paging#paginate}
        # @param previous [#to_s] the text of a link
        # @param following [#to_s]
        # @param around [Integer] how many numbers on each side of this page's
        # @param attributes [Hash] of the element `nav`
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
          (number == page.number) ? view.tag(:span, number, "aria-current": "page") : view.link_to(number, page.path(page: number))
        end

        # nil: a gap.
        def self._numbers(page, around)
          shown = [1, *(page.number - around..page.number + around), page.pages].uniq.select { |number| number.between?(1, page.pages) }.sort
          shown.each_cons(2).flat_map { |one, other| (other - one > 1) ? [one, nil] : [one] } << shown.last
        end
      end
    end
  end
end
