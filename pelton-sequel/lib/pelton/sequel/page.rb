# frozen_string_literal: true

require_relative "error"
require_relative "page/keyset"

module Pelton
  module Sequel
    # Raised if a page's cursor was changed, or belongs to another order: Sequel::PeltonPage#pelton_page.
    class InvalidCursor < Pelton::Error
      def initialize(message = "the cursor is no position in this list: begin at the first page") = super

      # @return [Integer] the status for web applications: 400
      def status = 400
      alias_method :web_status, :status
    end

    # A page of a dataset that begins after a row, or ends before one. Read on first use.
    class Page
      include Enumerable
      include Opaque

      # @return [Integer] default number of records per page
      LIMIT = 20

      # @return [Integer] maximum number of records
      attr_reader :limit

      # @private
      # @param dataset [Sequel::Dataset]
      def initialize(dataset, after, before, limit)
        unless limit.is_a?(Integer) && limit.positive?
          raise ArgumentError, "per is an Integer from 1 on, not #{limit.inspect}"
        end
        raise ArgumentError, "a page is after: or before: a cursor, not both" if after && before
        @keyset = Keyset.new(dataset)
        values = @keyset.values(after || before) if after || before
        @datasets = @keyset.rows(values, !before.nil?)
        @limit = limit
        @after = after
        @before = before
      end

      # @return [Array<Sequel::Model, Hash>]
      # @asynchronous
      def records
        read unless @records
        @records
      end
      alias_method :to_a, :records
      alias_method :to_ary, :records

      # @yieldparam record [Sequel::Model, Hash]
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

      # @return [nil] a page with a cursor has no number
      def number = nil

      # @return [nil] the rows are not counted
      def total = nil

      # @return [nil] the rows are not counted
      def pages = nil

      # Links to other pages: `:first`, `:prev` and `:next` (names of RFC 8288), without missing ones.
      #
      # @return [Hash{Symbol => Hash{Symbol => String}}] the parameters that request each page:
      #   `{first: {}, next: {after: "..."}}`
      # @asynchronous
      def links
        return {first: {}} if records.empty?
        back = @before ? @more : !@after.nil?
        on = @before ? true : @more
        {first: {}, prev: ({before: @keyset.cursor(@records.first, @raw.first)} if back),
         next: ({after: @keyset.cursor(@records.last, @raw.last)} if on)}.compact
      end

      # @return [Array] the records for JSON, by Active Support
      # @asynchronous
      def as_json(...) = records.as_json(...)

      # @return [String] a list of the records; a model needs Sequel's plugin json_serializer
      # @asynchronous
      def to_json(...) = records.to_json(...)

      private

      def read
        found = @datasets.inject([]) do |rows, dataset|
          (rows.size > limit) ? rows : rows + dataset.limit(limit + 1 - rows.size).all
        end
        @more = found.size > limit
        found = found.first(limit)
        found.reverse! if @before
        @raw = found.map { |record| @keyset.strip(record) }
        @records = found
      end
    end
  end
end
