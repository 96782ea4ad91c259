# frozen_string_literal: true

require "pelton/sequel"
require "pelton/sequel/page"

module Sequel
  # Pages of a list by the position of their rows, not by a number: the database skips nothing, so each page costs the
  # same, and rows that are added or deleted do not shift the next one.
  #
  #     DB.extension(:pelton_page) # Pelton::Sequel.connect has done it
  #     page = Post.reverse(:created_at).pelton_page(per: 20)
  #     page.map(&:title)
  #     page.links # => {first: {}, next: {after: "WzM..."}}
  #     Post.reverse(:created_at).pelton_page(after: "WzM...", per: 20)
  #
  # Needs an index on the order's columns, in their directions, followed by the primary key, which decides between equal
  # rows. A cursor contains these columns' values, which anyone can read: sign or seal it if they are secret.
  module PeltonPage
    # @param after [String, nil] the cursor of `links[:next]`
    # @param before [String, nil] the cursor of `links[:prev]`
    # @param per [Integer] records per page
    # @return [Pelton::Sequel::Page]
    # @raise [Pelton::Sequel::InvalidCursor] if the cursor belongs to another order, or was changed
    # @raise [ArgumentError] if the order contains expressions other than the table's columns, or the dataset has a
    #   limit or no key
    # @asynchronous at the first page of a table, for its schema; rows are read on first use of the page
    def pelton_page(after: nil, before: nil, per: Pelton::Sequel::Page::LIMIT)
      Pelton::Sequel::Page.new(self, after, before, per)
    end
  end

  Dataset.register_extension(:pelton_page, PeltonPage)
end
