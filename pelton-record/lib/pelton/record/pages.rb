# frozen_string_literal: true

module Pelton
  module Record
    # A page of a list, as {Relation::Paging#page} and {Relation::Paging#keyset} return it. Read on first use.
    class Page
      include Enumerable

      # @return [Integer] maximum number of records
      attr_reader :limit

      # @return [Array<Model>]
      # @asynchronous
      def records
        read unless @records
        @records
      end
      alias_method :to_a, :records
      alias_method :to_ary, :records

      # @yieldparam record [Model]
      # @return [self, Enumerator]
      # @asynchronous
      def each(&block)
        return to_enum(:each) { size } unless block
        records.each(&block)
        self
      end

      # @return [Integer] records on this page
      # @asynchronous
      def size = records.size
      alias_method :length, :size

      # @return [Boolean]
      # @asynchronous
      def empty? = records.empty?

      # @return [Integer, nil] the page's number, from 1; nil if it has a cursor instead
      def number = nil

      # @return [Integer, nil] number of all records; nil if they were not counted
      # @asynchronous
      def total = nil

      # @return [Integer, nil] number of pages; nil if they were not counted
      # @asynchronous
      def pages = nil

      # @!method links
      # Links to other pages: `:first`, `:prev`, `:next` and `:last` (names of RFC 8288), without missing ones.
      #
      #   @return [Hash{Symbol => Hash{Symbol => Object}}] the parameters that request each page: `{next: {page: 3}}`, `{next: {after: "..."}}`
      #   @asynchronous

      # @return [Array<Hash>] the records for JSON
      # @asynchronous
      def as_json(...) = records.as_json(...)

      # @return [String]
      # @asynchronous
      def to_json(...) = records.to_json(...)

      # A page with a number.
      class Numbered < Page
        attr_reader :number

        # @private
        def initialize(relation, number, limit, counted)
          super()
          @relation = relation
          @number = number
          @limit = limit
          @counted = counted
        end

        def total
          records if @counted
          @total
        end

        def pages = total && [total.fdiv(limit).ceil, 1].max

        def links
          more = @counted ? number < pages : records && @more
          {first: {page: 1}, prev: ({page: [number - 1, pages].compact.min} if number > 1), next: ({page: number + 1} if more), last: ({page: pages} if @counted)}.compact
        end

        private

        # A first page that is not full needs no count. A page after the last one is not read.
        def read
          skipped = (number - 1) * limit
          @total = @relation.count_rows if @counted && number > 1
          beyond = skipped.bit_length > 62 || (@total && skipped >= @total)
          found = beyond ? [] : @relation.limit(limit + 1).offset(skipped).records
          @more = found.size > limit
          @total ||= @more ? @relation.count_rows : found.size if @counted
          @records = found.first(limit)
        end
      end

      # A page that begins after a record, or ends before one.
      class Keyed < Page
        # @private
        def initialize(keyset, relations, limit, after, before)
          super()
          @keyset = keyset
          @relations = relations
          @limit = limit
          @after = after
          @before = before
        end

        def links
          records
          back = @before ? @more : !@after.nil?
          on = @before ? true : @more
          return {first: {}} if @records.empty?
          {first: {}, prev: ({before: @keyset.cursor(@records.first, @raw.first)} if back), next: ({after: @keyset.cursor(@records.last, @raw.last)} if on)}.compact
        end

        private

        def read
          found = @relations.inject([]) { |rows, relation| (rows.size > limit) ? rows : rows + relation.limit(limit + 1 - rows.size).records }
          @more = found.size > limit
          found = found.first(limit)
          found.reverse! if @before
          @raw = found.map { |record| @keyset.strip(record) }
          @records = found
        end
      end
    end
  end
end
