# frozen_string_literal: true

require_relative "../pages"
require_relative "../pages/keyset"

module Pelton
  module Record
    class Relation
      # Pagination. The primary key orders rows that are otherwise equal, so that none is on two pages, or on none.
      module Paging
        # @return [Integer] default number of records per page
        LIMIT = 20

        # Returns a page by its number. The database counts and skips all rows before it, unlike {#keyset}.
        #
        #     page = Post.order(created_at: :desc).page(2)
        #     page.map(&:title)
        #     page.total # => 45
        #     page.links # => {first: {page: 1}, prev: {page: 1}, next: {page: 3}, last: {page: 3}}
        #
        # @param number [Integer] from 1; a page after the last one is empty
        # @param limit [Integer] records per page
        # @param total [Boolean] whether to count rows, by a separate query; without it there is no last page
        # @return [Page::Numbered]
        # @raise [ArgumentError] if a number is not positive, or the relation already has a limit
        def page(number = 1, limit: LIMIT, total: true)
          check_page(number: number, limit: limit)
          Page::Numbered.new(totally_ordered, number, limit, total)
        end

        # Returns a page that begins after a record, or ends before one, by a cursor of {Page#links}. Every page costs the same, and added or
        # deleted rows do not shift pages. The order may have several of the model's own columns, in different directions and with NULLs.
        #
        #     page = Post.order(created_at: :desc).keyset
        #     page.links # => {first: {}, next: {after: "WzM..."}}
        #     Post.order(created_at: :desc).keyset(after: "WzM...")
        #
        # Needs an index on the order's columns, in their directions, followed by the primary key. A cursor contains these columns' values,
        # which anyone can read.
        #
        # @param after [String, nil] the cursor of `links[:next]`
        # @param before [String, nil] the cursor of `links[:prev]`
        # @param limit [Integer] records per page
        # @return [Page::Keyed]
        # @raise [InvalidCursor] if the cursor belongs to another order, or was changed
        # @raise [ArgumentError] if the order contains expressions other than columns, or the relation already has a limit
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

        # Rows of groups, unions and selected values have no key.
        def totally_ordered
          return self if model.primary_key.nil? || dataset.opts[:group] || dataset.opts[:compounds] || (dataset.opts[:distinct] && dataset.opts[:select])
          ordered = dataset.opts[:order].to_a
          descending = ordered.last.is_a?(::Sequel::SQL::OrderedExpression) && ordered.last.descending
          keys = Array(model.primary_key).map { |name| Condition.qualified(dataset, name) }
          derived(dataset.order_append(*keys.map { |key| descending ? ::Sequel.desc(key) : key }))
        end
      end
    end
  end
end
