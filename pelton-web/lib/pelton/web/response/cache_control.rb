# frozen_string_literal: true

module Pelton
  module Web
    # Keeps shared caches from storing one client's response (RFC 9111, section 3).
    # @private
    module CacheControl
      DEFAULT = "private, no-cache"
      FOR_ALL = /\A(?:public|s-maxage|proxy-revalidate)(?:\s*=|\z)/i
      OWN = /\A(?:private|no-store)(?:\s*\z)/i
      private_constant :FOR_ALL, :OWN

      class << self
        # Makes a response private, whatever the action has set. Its max-age for the client stays.
        def own(headers, default = DEFAULT)
          given = headers["cache-control"]
          text = given.nil? ? default : own_text(Array(given).join(", "))
          Hash.instance_method(:store).bind_call(headers, "cache-control", text) if text && text != given
        end

        private

        def own_text(given)
          directives = given.split(/,\s*(?=(?:[^"]*"[^"]*")*[^"]*\z)/).map(&:strip).reject(&:empty?)
          return given if directives.any?(OWN)
          ["private", *directives.grep_v(FOR_ALL)].join(", ")
        end
      end
    end
  end
end
