# frozen_string_literal: true

module Pelton
  module HTTP
    # Which codings of a response's content a client takes (RFC 9110, section 12.5.3).
    module ContentCoding
      # A quality of zero refuses a coding.
      REFUSED = /;\s*q\s*=\s*0(?:\.0*)?\s*\z/i
      private_constant :REFUSED

      class << self
        # @param header [String, nil] the request's Accept-Encoding
        # @param coding [String] as in "gzip" or "br"
        # @return [Boolean] false where the header is missing or does not name the coding: any coding would be allowed
        #   by the standard then, but such clients are simple ones, which often understand none
        def accepted?(header, coding)
          return false unless header
          other = nil
          header.split(",") do |one|
            name = one[/\A\s*([^\s;]+)/, 1]
            return !one.match?(REFUSED) if name&.casecmp?(coding)
            other = !one.match?(REFUSED) if name == "*"
          end
          other || false
        end

        # @param header [String, nil] the response's `vary` so far
        # @return [String] the same with Accept-Encoding
        def vary(header)
          return "accept-encoding" if header.nil? || header.empty?
          header.match?(/(?:\A|,)\s*(?:\*|accept-encoding)\s*(?:,|\z)/i) ? header : "#{header}, accept-encoding"
        end
      end
    end
  end
end
