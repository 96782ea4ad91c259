# frozen_string_literal: true

module Pelton
  module Record
    # A page of a long list: what {Relation::Paging#page} and {Relation::Paging#keyset} return. It is read when its records are asked for.
    class Page
      include Enumerable

      # @return [Integer] records at most
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

      # @return [Integer, nil] of this page, from 1; nil: it has a cursor instead
      def number = nil

      # @return [Integer, nil] of all records; nil: they were not counted
      # @asynchronous
      def total = nil

      # @return [Integer, nil] pages in all; nil: they were not counted
      # @asynchronous
      def pages = nil

      # @!method links
      #   Where the other pages are: `:first`, `:prev`, `:next` and `:last` (the names of RFC 8288), as far as there are such pages.
      #
      #   @return [Hash{Symbol => Hash{Symbol => Object}}] the parameters of a request for that page: `{next: {page: 3}}`, `{next: {after: "..."}}`
      #   @asynchronous

      # @return [Array<Hash>] the records as JSON says them
      # @asynchronous
      def as_json(...) = records.as_json(...)

      # @return [String]
      # @asynchronous
      def to_json(...) = records.to_json(...)

      # A page that has a number.
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

        # The first page counts by itself where it has room left. A page that is not there is not looked for.
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

      # A page that begins behind a record, or ends before one.
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
