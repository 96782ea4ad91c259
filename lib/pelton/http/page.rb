# frozen_string_literal: true

require_relative "fragment"
require_relative "content_coding"
require_relative "entity_tag"

module Pelton
  module HTTP
    # A page made of text and of {Fragment}s, in the order in which they are added. What it costs to compress and to
    # identify the page depends on the text between its fragments alone.
    #
    # @example
    #   page = Pelton::HTTP::Page.new
    #   page << header << "<p>Hello, #{name}</p>"
    #   messages.each { |message| page << fragments.fetch(message) { Pelton::HTTP::Fragment.new(render(message)) } }
    #   page.response(env, 200, "content-type" => "text/html; charset=utf-8")
    #
    # @!method <<(part)
    #   Adds a text, a fragment, or all of another page.
    #   @param part [String, Fragment, Page]
    #   @return [self]
    #   @raise [TypeError] the part is none of these
    # @!method text
    #   @return [String] the text of the whole page; frozen
    # @!method bytesize
    #   @return [Integer] the length of the text
    # @!method fragments
    #   @return [Array<Fragment>] in their order
    # @!method gzip
    #   @return [String] the page as a gzip member (RFC 1952), binary
    class Page
      # The bytes from which {#response} compresses a page.
      LEAST = 1024

      OF_CONTENT = %w[content-type content-length content-encoding content-language].freeze
      private_constant :OF_CONTENT

      Pelton.register_upcalls(deflate_text: Fragment.method(:_for_once))

      def empty? = bytesize == 0

      # @return [String] the text of the whole page; frozen
      def to_s = text

      # The page's entity tag (RFC 9110, section 8.8.3), made from the digests of the fragments and the text between
      # them. It is a weak one, since the page has the same tag whether or not it is sent compressed. Equal pages that
      # are made of different fragments have different tags.
      #
      # @return [String] as in `W/"5f2c81d0a3b4c6e75f2c81d0a3b4c6e7"`
      def etag = EntityTag.weak(outline)

      # A Rack response: 304 if the client has the page, or else the page, compressed for clients that take gzip. Sets
      # `etag` (but for a status other than 200, and where the headers have one), `vary`, `content-encoding` and
      # `content-length`.
      #
      # @param env [Hash] Rack's
      # @param status [Integer]
      # @param headers [Hash{String => String}] with names in lower case; it is not changed
      # @return [Array(Integer, Hash, Array<String>)]
      def response(env, status = 200, headers = {})
        headers = headers.merge("vary" => ContentCoding.vary(headers["vary"]))
        if status == 200
          tag = headers["etag"] ||= etag
          return not_modified(headers) if EntityTag.current?(env, tag)
        end
        body = text
        if compress?(env, headers)
          headers["content-encoding"] = "gzip"
          headers["etag"] = "W/#{tag}" if tag&.start_with?('"')
          body = gzip
        end
        headers["content-length"] = body.bytesize.to_s
        [status, headers, [body]]
      end

      def inspect = "#<#{self.class} #{bytesize} bytes, #{fragments.size} fragments>"

      private

      def compress?(env, headers)
        bytesize >= LEAST && !headers.key?("content-encoding") && !headers["cache-control"]&.include?("no-transform") &&
          ContentCoding.accepted?(env["HTTP_ACCEPT_ENCODING"], "gzip")
      end

      def not_modified(headers) = [304, headers.except(*OF_CONTENT), []]
    end
  end
end
