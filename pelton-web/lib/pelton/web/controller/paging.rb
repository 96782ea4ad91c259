# frozen_string_literal: true

require_relative "../page"

module Pelton
  module Web
    class Controller
      # Pagination.
      module Paging
        PURPOSE = "a page's cursor"
        private_constant :PURPOSE

        private

        # Returns the page of a list that the request asks for: by `?page=3`, or by `?after=` and `?before=` with the
        # cursors of {Page#links}. Clients may choose its length by `?limit=50`.
        #
        #     def index
        #       @posts = paginate(Post.reverse(:created_at), by: :cursor)
        #       respond_to do |format|
        #         format.html
        #         format.json { link_pages(@posts) && render(json: @posts) }
        #       end
        #     end
        #
        # Cursors are signed with the application's secrets. A changed cursor, or another list's, gets 400; an invalid
        # number or limit 422.
        #
        # @param list [Array, #limit] an Array, or a query with `limit`, `offset` and `count`, such as a dataset of
        #   Sequel or a relation of ActiveRecord; a query must have a unique order
        # @param by [Symbol] :number, or :cursor (for Sequel's datasets with the extension pelton_page), with which each
        #   page costs the same and does not shift when rows are added
        # @param limit [Integer] elements per page
        # @param max_limit [Integer] the most that a client may ask for
        # @param total [Boolean] whether to count all elements
        # @raise [Params::Invalid, BadRequest]
        # @raise [ArgumentError] if the list has no such pages
        # @asynchronous while the form is still arriving; the elements are read on first use
        def paginate(list, by: :number, limit: 20, max_limit: [limit, 100].max, total: true)
          limit = params.integer(:limit, default: limit, in: 1..max_limit)
          page = case by
          when :number then Page::Slice.new(list, params.integer(:page, default: 1, in: 1..), limit, total)
          when :cursor then page_by_cursor(list, limit)
          else raise ArgumentError, "by: is :number or :cursor, not #{by.inspect}"
          end
          Page.new(page, request, ->(cursor) { Secrets.of(settings.secrets).sign(cursor, purpose: PURPOSE) })
        end

        # Sets the header `link` (RFC 8288) to the other pages, for programs.
        #
        # @asynchronous
        def link_pages(page)
          links = [headers["link"], page.link_header].compact.reject(&:empty?)
          headers["link"] = links.join(", ") if links.any?
          page
        end

        def page_by_cursor(list, limit)
          unless list.respond_to?(:pelton_page)
            raise ArgumentError, "#{list.class} has no pages by cursor: paginate it by number"
          end
          after, before = %i[after before].map do |name|
            params.string(name, default: nil, max: 8192)&.then { |token| opened(token) }
          end
          raise BadRequest, "A page is after one cursor or before another, not both." if after && before
          list.pelton_page(after: after, before: before, per: limit)
        rescue Pelton::Error => error
          raise error unless error.respond_to?(:status) && error.status == 400 && !error.is_a?(RequestError)
          raise BadRequest, "The cursor is no position in this list: begin at the first page."
        end

        def opened(token)
          Secrets.of(settings.secrets).verify(token, purpose: PURPOSE)&.text || raise(BadRequest,
            "The cursor was changed, or has expired: begin at the first page.")
        end
      end
    end
  end
end
