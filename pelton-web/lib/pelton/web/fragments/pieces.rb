# frozen_string_literal: true

require "securerandom"
require "pelton/http"

module Pelton
  module Web
    # The fragments of a page. Each has a mark in the page's text until the page is complete.
    class Pieces
      # Random, so clients cannot forge it.
      MARK = "\0#{SecureRandom.hex(8)}:"
      MARKED = /#{Regexp.escape(MARK)}(\d+)\0/
      private_constant :MARK, :MARKED

      def initialize = @fragments = []

      # @return [String] a mark for the fragment, which HTML escaping does not change
      def mark(fragment)
        @fragments << fragment
        "#{MARK}#{@fragments.size - 1}\0"
      end

      # @param text [String] with marks
      # @return [String] with the fragments in place of their marks
      def text(text) = text.gsub(MARKED) { @fragments.fetch($1.to_i).text }

      # @param text [String] with marks
      def page(text)
        page = HTTP::Page.new
        text.split(MARKED).each_with_index do |part, index|
          next page << @fragments.fetch(part.to_i) if index.odd?
          page << part unless part.empty?
        end
        page
      end
    end
  end
end
