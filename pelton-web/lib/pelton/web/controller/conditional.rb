# frozen_string_literal: true

require "time"
require "pelton/http"
require_relative "../fragments/key"

module Pelton
  module Web
    class Controller
      # `fresh_when` and `stale?`: a client that has the page already gets 304 before anything is made of it (RFC 9110, section 13).
      module Conditional
        private

        # Names the version of the page, and answers 304 where the client has it. A page has another version, too, when a template
        # changes, and in another format. Called inside the block of a format, or after respond_to, it gives all clients that take this
        # format the same tag; before, those that send the same Accept.
        #
        #     def show
        #       @post = Post.find(params.integer(:id))
        #       fresh_when([@post, current_user])
        #       # render only where performed? is false, or use stale?
        #     end
        #
        # A page of fragments has the version of their keys: `render if stale?(@posts)` before a template with `cache post do`.
        #
        # @param version [Object, nil] what the page is made of, and for whom: text, numbers, times, objects with a version, and Arrays of
        #   these, as the key of a fragment ({Fragments::Key})
        # @param etag [Object, nil] the same
        # @param last_modified [Time, nil]
        # @param public [Boolean] whether caches between here and the client may keep the page
        # @return [Boolean] whether the client has it, so the action has answered
        # @raise [ArgumentError] something has no version
        def fresh_when(version = nil, etag: version, last_modified: nil, public: false)
          headers = response.headers
          etag = last_modified if etag.nil? # a date alone would be the same for all formats
          headers.put("etag", HTTP::EntityTag.weak(Fragments::Key.of([settings.templates&.digest, *representation, etag]))) unless etag.nil?
          headers.put("last-modified", last_modified.httpdate) if last_modified
          headers.put("cache-control", public ? "public, no-cache" : "private, no-cache") unless headers.key?("cache-control")
          return false unless fresh?(headers.fetch("etag", nil), headers.fetch("last-modified", nil))
          vary("accept") unless representation.first
          answer([], status: 304)
          true
        end

        # The opposite of {#fresh_when}: `render ... if stale?(@post)`.
        #
        # @return [Boolean] whether the page must be made
        # @raise (see #fresh_when)
        def stale?(version = nil, etag: version, last_modified: nil, public: false) = !fresh_when(etag: etag, last_modified: last_modified, public: public)

        # Allows the client to keep the answer.
        #
        # @param seconds [Numeric]
        # @param public [Boolean] whether caches between here and the client may keep it, too: never what is for one user
        def expires_in(seconds, public: false)
          response.headers["cache-control"] = "#{public ? "public" : "private"}, max-age=#{Integer(seconds)}"
          nil
        end

        # What tells the formats of an address apart: the one that {Negotiation#respond_to} has chosen, or the path's ending. Before either is
        # known, what the client would like: the action may still call respond_to.
        def representation
          format = @format || @captures["format"]
          format ? [format.to_s, nil] : [nil, @env["HTTP_ACCEPT"]]
        end

        # If-None-Match counts before If-Modified-Since (RFC 9110, section 13.2.2).
        def fresh?(tag, changed)
          return !!tag && HTTP::EntityTag.current?(@env, tag) if @env["HTTP_IF_NONE_MATCH"]
          since = @env["HTTP_IF_MODIFIED_SINCE"]
          !!(since && changed) && %w[GET HEAD].include?(@env["REQUEST_METHOD"]) && before?(changed, since)
        end

        def before?(changed, since)
          Time.httpdate(changed) <= Time.httpdate(since)
        rescue ArgumentError
          false
        end
      end
    end
  end
end
