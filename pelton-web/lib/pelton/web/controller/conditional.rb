# frozen_string_literal: true

require "time"
require "pelton/http"
require_relative "../fragments/key"

module Pelton
  module Web
    class Controller
      # `fresh_when` and `stale?`: a client that has the current page gets 304 without rendering (RFC 9110, section 13).
      module Conditional
        private

        # Names the page's version, and responds with 304 if the client has it. A changed template or another format is
        # another version. Inside the block of a format, or after respond_to, all clients of that format get the same
        # tag; before, only those that send the same Accept.
        #
        #     def show
        #       @post = Post.with_pk!(params.integer(:id))
        #       fresh_when([@post, current_user])
        #       # render only where performed? is false, or use stale?
        #     end
        #
        # A page of fragments has the version of their keys: `render if stale?(@posts)` before a template with
        # `cache post do`.
        #
        # A page that has a message of the flash to show is rendered.
        #
        # @param version [Object, nil] what the page shows, and for whom: text, numbers, times, objects with a version,
        #   and Arrays of these, as in a fragment's key ({Fragments::Key})
        # @param etag [Object, nil] the same
        # @param last_modified [Time, nil]
        # @param public [Boolean] whether shared caches may keep the page
        # @return [Boolean] whether the client has it, so that the action has responded
        # @raise [ArgumentError] if something has no version
        def fresh_when(version = nil, etag: version, last_modified: nil, public: false)
          headers = response.headers
          etag = last_modified if etag.nil? # a date alone would be the same for all formats
          unless etag.nil?
            headers.put("etag",
              HTTP::EntityTag.weak(Fragments::Key.of([settings.templates&.digest, *representation, etag])))
          end
          headers.put("last-modified", last_modified.httpdate) if last_modified
          unless headers.key?("cache-control")
            headers.put("cache-control", public ? "public, no-cache" : "private, no-cache")
          end
          return false unless fresh?(headers.fetch("etag", nil), headers.fetch("last-modified", nil))
          if !public && message_waiting? # the page has another version then
            %w[etag last-modified].each { |name| headers.delete(name) }
            return false
          end
          vary("accept") unless representation.first
          answer([], status: 304)
          true
        end

        # The opposite of {#fresh_when}: `render ... if stale?(@post)`.
        #
        # @return [Boolean] whether the page must be made
        # @raise (see #fresh_when)
        def stale?(version = nil, etag: version, last_modified: nil, public: false)
          !fresh_when(etag: etag, last_modified: last_modified, public: public)
        end

        # Lets the client cache the response.
        #
        # @param seconds [Numeric]
        # @param public [Boolean] whether shared caches may keep it, too; never for a page of one user
        def expires_in(seconds, public: false)
          response.headers["cache-control"] = "#{public ? "public" : "private"}, max-age=#{Integer(seconds)}"
          nil
        end

        # Looks into a session only if the client has one.
        def message_waiting? = !cookies[session_cookie].nil? && !flash.empty?

        # What distinguishes a path's formats: the one that {Negotiation#respond_to} chose, or the path's ending, or
        # else what the client prefers, since the action may still call respond_to.
        def representation
          format = @format || @captures["format"]
          format ? [format.to_s, nil] : [nil, @env["HTTP_ACCEPT"]]
        end

        # If-None-Match takes precedence over If-Modified-Since (RFC 9110, section 13.2.2).
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
