# frozen_string_literal: true

module Pelton
  module HTTP
    # A cookie that a server has set (RFC 6265, 5.2 and 5.3).
    # @private
    class ClientCookie
      # Bytes of a name and its value, and of an attribute's value: browsers' limits.
      MOST = 4096
      MOST_ATTRIBUTE = 1024
      CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/n
      MONTHS = %w[jan feb mar apr may jun jul aug sep oct nov dec].freeze
      ADDRESS = /\A[\d.]+\z|:/ # of IPv4 or IPv6
      private_constant :MOST, :MOST_ATTRIBUTE, :CONTROL, :MONTHS, :ADDRESS

      class << self
        # @param url [URI::HTTP] of the response
        # @param header [String] the value of Set-Cookie
        # @param now [Time]
        # @yieldparam domain [String] which the server wants to share the cookie with
        # @yieldreturn [Boolean] whether it is a public suffix, such as "co.uk"
        # @return [ClientCookie, nil] nil: the server may not set it
        def parse(url, header, now, &public_suffix)
          text = header.b
          return if text.match?(CONTROL)
          pair, *attributes = text.split(";")
          name, value = pair.to_s.split("=", 2).map { |part| part.strip.force_encoding(Encoding::UTF_8) }
          return if value.nil? || name.empty? || name.bytesize + value.bytesize > MOST
          cookie = new(name, value, url, attributes(attributes), now, &public_suffix)
          cookie if cookie.allowed?(url)
        end

        # A date, as servers write it in several forms (RFC 6265, 5.1.1).
        #
        # @return [Time, nil]
        def time(text)
          clock = day = month = year = nil
          text.split(/[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/n).each do |token|
            if !clock && (found = token.match(/\A(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/))
              clock = found.captures.map(&:to_i)
            elsif !day && (found = token[/\A\d{1,2}(?!\d)/]) then day = found.to_i
            elsif !month && (found = MONTHS.index(token[0, 3].downcase)) then month = found + 1
            elsif !year && (found = token[/\A\d{2,4}(?!\d)/]) then year = found.to_i
            end
          end
          date(year, month, day, clock) if clock && day && month && year
        end

        # Whether a host belongs to a domain (RFC 6265, 5.1.3).
        def in_domain?(host, domain) = host == domain || (host.end_with?(".#{domain}") && !host.match?(ADDRESS))

        private

        def attributes(parts)
          parts.each_with_object({}) do |part, all|
            name, value = part.split("=", 2).map(&:strip)
            all[name.downcase] = value.to_s if name && value.to_s.bytesize <= MOST_ATTRIBUTE # the last one counts
          end
        end

        def date(year, month, day, clock)
          year += (year < 70) ? 2000 : 1900 if year < 100
          return if year < 1601 || clock.zip([23, 59, 59]).any? { |part, most| part > most }
          time = Time.utc(year, month, day, *clock)
          time if time.day == day # not the 31st of June
        rescue ArgumentError
          nil
        end
      end

      # @return [String]
      attr_reader :name, :value, :domain, :path

      # @return [Time, nil] nil: it lasts as long as the jar
      attr_reader :expires

      # @return [Integer] in which the jar got it
      attr_accessor :number

      def initialize(name, value, url, attributes, now)
        @name, @value = name, value
        @host = url.hostname.downcase
        @asked = attributes["domain"].to_s.delete_prefix(".").downcase
        @suffix = !@asked.empty? && (!@asked.include?(".") || @asked.match?(ADDRESS) || yield(@asked))
        @host_only = @asked.empty? || (@suffix && @asked == @host)
        @domain = @host_only ? @host : @asked
        @path = attributes["path"].to_s.start_with?("/") ? attributes["path"] : default_path(url)
        @secure = attributes.key?("secure")
        @expires = expiry(attributes, now)
      end

      # Whether this server may set it. One without TLS may set no secure cookie, and none that its name calls one
      # (`__Secure-`, `__Host-`).
      def allowed?(url)
        return false if @secure && url.scheme != "https"
        return false if @name.start_with?("__Secure-", "__Host-") && !@secure
        return false if @name.start_with?("__Host-") && !(@asked.empty? && @path == "/")
        @host_only || (!@suffix && ClientCookie.in_domain?(@host, @domain))
      end

      # @return [Array] two cookies with one key are one cookie
      def key = [@name, @domain, @path]

      def expired?(now) = !!@expires && @expires <= now

      # Whether a request gets it (RFC 6265, 5.4).
      #
      # @param url [URI::HTTP]
      def for?(url)
        return false if @secure && url.scheme != "https"
        host = url.hostname.downcase
        (@host_only ? host == @domain : ClientCookie.in_domain?(host, @domain)) &&
          for_path?(url.path.empty? ? "/" : url.path)
      end

      def to_s = "#{@name}=#{@value}"

      private

      def for_path?(path)
        path == @path || (path.start_with?(@path) && (@path.end_with?("/") || path[@path.size] == "/"))
      end

      def default_path(url)
        folder = url.path[%r{\A(/.*)/}, 1]
        folder || "/"
      end

      def expiry(attributes, now)
        age = attributes["max-age"]
        return now + age.to_i.clamp(-1, 1 << 31) if age&.match?(/\A-?\d+\z/)
        attributes["expires"]&.then { |text| ClientCookie.time(text) }
      end
    end
  end
end
