# frozen_string_literal: true

require "forwardable"

module Pelton
  module Web
    # A page of a list, with links to the others, as {Controller::Paging#paginate} returns it.
    class Page
      include Enumerable
      extend Forwardable

      # Parameters that choose a page.
      PARAMETERS = %w[page after before].freeze

      # A numbered page of an Array or of a query with `limit` and `offset`, such as a dataset of Sequel.
      # @private
      class Slice
        attr_reader :number, :limit

        def initialize(list, number, limit, counted)
          @list = list.respond_to?(:to_ary) ? list.to_ary : list
          @number = number
          @limit = limit
          @counted = counted || @list.is_a?(Array)
        end

        # @asynchronous
        def records
          @records ||= begin
            skipped = (number - 1) * limit
            found = (skipped.bit_length > 62 || (total && skipped >= total)) ? [] : read(skipped)
            @more = found.size > limit
            found.first(limit)
          end
        end

        # @asynchronous
        def total
          @total ||= @list.is_a?(Array) ? @list.size : @list.count if @counted
        end

        # @asynchronous
        def pages = total && [total.fdiv(limit).ceil, 1].max

        # @asynchronous
        def links
          more = pages ? number < pages : records && @more
          {first: {page: 1}, prev: ({page: [number - 1, pages].compact.min} if number > 1),
           next: ({page: number + 1} if more), last: ({page: pages} if pages)}.compact
        end

        private

        def read(skipped) = @list.is_a?(Array) ? @list[skipped, limit + 1] : @list.limit(limit + 1).offset(skipped).to_a
      end

      # @!method number
      #   @return [Integer, nil] the page's number, from 1; nil if it has a cursor instead
      # @!method limit
      #   @return [Integer] maximum number of elements
      # @!method total
      #   @return [Integer, nil] number of all elements; nil if they were not counted
      #   @asynchronous
      # @!method pages
      #   @return [Integer, nil] number of pages
      #   @asynchronous
      # @!method records
      #   @return [Array] the page's elements
      #   @asynchronous
      def_delegators :@page, :number, :limit, :total, :pages, :records
      # @!method each
      #   @yieldparam element [Object]
      #   @asynchronous
      # @!method size
      #   @return [Integer]
      #   @asynchronous
      # @!method empty?
      #   @return [Boolean]
      #   @asynchronous
      def_delegators :records, :each, :size, :length, :empty?, :to_ary, :to_a, :as_json, :to_json

      # @private
      # @param page [#records, #links] the list's own page
      # @param request [Request]
      # @param seal [#call] signs a cursor
      def initialize(page, request, seal)
        @page = page
        @request = request
        @seal = seal
      end

      # @return [Hash{Symbol => String}] paths of other pages: `:first`, `:prev`, `:next`, `:last`, without missing ones
      # @asynchronous
      def links = @links ||= @page.links.transform_values { |parameters| path(**parameters) }

      # The path of another page: the request's, with its query.
      #
      # @param parameters [Hash] `page: 3`
      def path(**parameters)
        sealed = parameters.to_h { |name, value| [name.to_s, (name == :page) ? value.to_s : @seal.call(value)] }
        query = Rack::Utils.build_nested_query(@request.query.except(*PARAMETERS).merge(sealed))
        path = @request.path.b.gsub(/[^\x21\x23-\x3b\x3d\x3f-\x7e]|[?#]/n) { |byte| format("%%%02X", byte.ord) }
        query.empty? ? path : "#{path}?#{query}"
      end

      # @return [String] the header `link` (RFC 8288) with full URLs; empty if there is only one page
      # @asynchronous
      def link_header = links.map { |relation, path| "<#{@request.base_url}#{path}>; rel=\"#{relation}\"" }.join(", ")

      def inspect = "#<#{self.class} #{number ? "number=#{number}" : "of a cursor"} limit=#{limit}>"
    end
  end
end
