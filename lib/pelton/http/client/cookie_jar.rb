# frozen_string_literal: true

require_relative "cookie"

module Pelton
  module HTTP
    # The cookies of a client (RFC 6265): which it got from whom, and which it sends where. Clients may share a jar,
    # from any thread. It is in memory only, and bounded.
    #
    # A server cannot set cookies for a domain of one label, such as "com". To refuse other public suffixes, such as
    # "co.uk", give the jar a list of them.
    #
    # @example
    #   Pelton::HTTP::Client.new("https://shop.example/", cookies: true)
    # @example with the gem public_suffix
    #   jar = Pelton::HTTP::CookieJar.new(public_suffix: ->(domain) { !PublicSuffix.valid?(domain, default_rule: nil) })
    #   Pelton::HTTP::Client.new("https://shop.example/", cookies: jar)
    class CookieJar
      include Opaque

      # @param most [Integer] cookies; beyond, those that were set first are dropped. One has up to 4,096 bytes
      # @param most_of_domain [Integer] cookies of a domain
      # @param public_suffix [#call, nil] gets a domain, and says whether it is a public suffix, for which no cookies
      #   may be set
      def initialize(most: 3000, most_of_domain: 50, public_suffix: nil)
        @most, @most_of_domain = most, most_of_domain
        @public_suffix = public_suffix
        @cookies = {} # by key, in the order in which they were set
        @number = 0
        @lock = Mutex.new
      end

      # @return [Integer] cookies
      def size = @lock.synchronize { @cookies.size }

      # Removes all cookies.
      #
      # @return [nil]
      def clear = @lock.synchronize { @cookies.clear }.then { nil }

      # @param url [String, URI]
      # @return [Hash{String => String}] what a request to the URL gets
      def cookies(url) = matching(ClientRequest.parse(url)).to_h { |cookie| [cookie.name, cookie.value] }

      # Takes what a response sets. What the server may not set is left out.
      #
      # @param url [String, URI] of the response
      # @param headers [Array<String>, String, nil] the values of Set-Cookie
      # @return [nil]
      def store(url, headers)
        url = ClientRequest.parse(url)
        now = Time.now
        Array(headers).each do |header|
          cookie = ClientCookie.parse(url, header, now) { |domain| @public_suffix&.call(domain) }
          @lock.synchronize { put(cookie, now) } if cookie
        end
        nil
      end

      # @param url [URI::HTTP]
      # @param own [String, nil] the header Cookie that the program has set: its cookies take precedence
      # @return [String, nil] the header
      # @private
      def _header(url, own = nil)
        names = own.to_s.split(";").map { |pair| pair[/\A\s*([^=]*?)\s*=/, 1] }
        found = matching(url).reject { |cookie| names.include?(cookie.name) }
        text = [own, *found].compact.join("; ")
        text unless text.empty?
      end

      private

      # Those with longer paths first, then those that were set first.
      def matching(url)
        now = Time.now
        found = @lock.synchronize { @cookies.values.select { |cookie| !cookie.expired?(now) && cookie.for?(url) } }
        found.sort_by { |cookie| [-cookie.path.bytesize, cookie.number] }
      end

      # A cookie that is set anew keeps its place among those that are sent.
      def put(cookie, now)
        before = @cookies.delete(cookie.key)
        return if cookie.expired?(now)
        cookie.number = before ? before.number : (@number += 1)
        @cookies[cookie.key] = cookie
        same = @cookies.values.select { |one| one.domain == cookie.domain }
        drop(same, now) if same.size > @most_of_domain
        drop(@cookies.values, now) if @cookies.size > @most
      end

      def drop(cookies, now)
        gone = cookies.select { |cookie| cookie.expired?(now) }
        gone = cookies.first(1) if gone.empty?
        gone.each { |cookie| @cookies.delete(cookie.key) }
      end
    end
  end
end
