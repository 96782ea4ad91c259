# frozen_string_literal: true

require_relative "../pages"
require_relative "../pages/keyset"

module Pelton
  module Record
    class Relation
      # Long lists, page by page. The primary key decides between rows that the order leaves equal, so that no row is on two pages, or on none.
      module Paging
        # @return [Integer] records on a page, where nothing else is said
        LIMIT = 20

        # A page by its number. The database counts, and skips, all rows before it: {#keyset} does neither.
        #
        #     page = Post.order(created_at: :desc).page(2)
        #     page.map(&:title)
        #     page.total # => 45
        #     page.links # => {first: {page: 1}, prev: {page: 1}, next: {page: 3}, last: {page: 3}}
        #
        # @param number [Integer] from 1; a page after the last one is empty
        # @param limit [Integer] records on a page
        # @param total [Boolean] whether the rows are counted, by a query of its own; without that there is no last page
        # @return [Page::Numbered]
        # @raise [ArgumentError] if a number is not positive, or the relation has a limit already
        def page(number = 1, limit: LIMIT, total: true)
          check_page(number: number, limit: limit)
          Page::Numbered.new(totally_ordered, number, limit, total)
        end

        # A page that begins behind a record, or ends before one: by a cursor of {Page#links}. It costs the same wherever it is, and rows that
        # are added or deleted meanwhile move nothing. The order may have several columns in different directions, and NULLs; all of them are
        # the model's own.
        #
        #     page = Post.order(created_at: :desc).keyset
        #     page.links # => {first: {}, next: {after: "WzM..."}}
        #     Post.order(created_at: :desc).keyset(after: "WzM...")
        #
        # An index on the columns of the order, in their directions and with the primary key at its end, finds the page at once. A cursor contains the values of
        # these columns, and anybody can read it.
        #
        # @param after [String, nil] the cursor of `links[:next]`
        # @param before [String, nil] the cursor of `links[:prev]`
        # @param limit [Integer] records on a page
        # @return [Page::Keyed]
        # @raise [InvalidCursor] if the cursor was not made by this query's order, or was changed
        # @raise [ArgumentError] if the order has other expressions than columns, or the relation has a limit already
        def keyset(after: nil, before: nil, limit: LIMIT)
          check_page(limit: limit)
          raise ArgumentError, "keyset takes after: or before:, not both" if after && before
          keyset = Page::Keyset.new(self)
          values = keyset.values(after || before) if after || before
          Page::Keyed.new(keyset, keyset.rows(values, !before.nil?).map { |rows| derived(rows) }, limit, after, before)
        end

        # @private
        # Rows, also of groups.
        def count_rows = dataset.opts[:group] ? graph_free(dataset).unordered.count : count(:all)

        private

        def check_page(**numbers)
          numbers.each { |name, value| raise ArgumentError, "#{name} is an Integer from 1 on, not #{value.inspect}" unless value.is_a?(Integer) && value.positive? }
          raise ArgumentError, "the relation has a limit or an offset, which the page would replace: take them away, or use from" if dataset.opts[:limit] || dataset.opts[:offset]
        end

        # Rows of groups, unions and selected values have no key of their own.
        def totally_ordered
          return self if model.primary_key.nil? || dataset.opts[:group] || dataset.opts[:compounds] || (dataset.opts[:distinct] && dataset.opts[:select])
          ordered = dataset.opts[:order].to_a
          descending = ordered.last.is_a?(Sequel::SQL::OrderedExpression) && ordered.last.descending
          keys = Array(model.primary_key).map { |name| Condition.qualified(dataset, name) }
          derived(dataset.order_append(*keys.map { |key| descending ? Sequel.desc(key) : key }))
        end
      end
    end
  end
end
