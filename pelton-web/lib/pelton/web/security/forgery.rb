# frozen_string_literal: true

require "openssl"
require "securerandom"

module Pelton
  module Web
    # Detects forged requests: those that another site makes a browser send, with the user's cookies.
    #
    # Browsers send where a request comes from, and no page can change that: by `Sec-Fetch-Site`
    # (https://www.w3.org/TR/fetch-metadata/), and older ones by `Origin` (RFC 6454). So pages need no tokens and are
    # the same for all users. Clients that send neither header need a token: browsers from before 2020, and programs
    # with cookies.
    module Forgery
      # Safe methods (RFC 9110, section 9.2.1).
      SAFE = %w[GET HEAD OPTIONS TRACE].freeze

      # Authorization that browsers send by themselves, also for other sites' pages. Any other kind must be added by a
      # program.
      BROWSERS_OWN = /\A(?:basic|digest|negotiate|ntlm)\b/i
      PORTS = {"http" => ":80", "https" => ":443"}.freeze
      TOKEN = 32
      private_constant :BROWSERS_OWN, :PORTS, :TOKEN

      class << self
        # @param env [Hash] Rack's, after {Proxies}
        # @param trusted_origins [Array<String>] other sites that may send forms
        # @param same_site [Boolean] whether other hosts of the same domain may send forms
        # @return [Symbol] :own for the site's own request, :forged, or :unknown if its token decides
        def judge(env, trusted_origins: [], same_site: false)
          return :own if SAFE.include?(env["REQUEST_METHOD"])
          site, origin = env["HTTP_SEC_FETCH_SITE"], env["HTTP_ORIGIN"]
          return :own if origin && trusted_origins.include?(origin)
          return judge_site(site, same_site) if site
          return (origin.downcase == own_origin(env)) ? :own : :forged if origin
          authorization = env["HTTP_AUTHORIZATION"]
          (authorization && !BROWSERS_OWN.match?(authorization)) ? :own : :unknown
        end

        # @return [String] the requested scheme, host and port
        def own_origin(env)
          scheme = env["rack.url_scheme"]
          host = (env["HTTP_HOST"] || "#{env["SERVER_NAME"]}:#{env["SERVER_PORT"]}").downcase
          "#{scheme}://#{host.delete_suffix(PORTS.fetch(scheme, ""))}"
        end

        # @return [Boolean] whether the browser sends where requests come from, so that forms need no token
        def known_by_headers?(env) = env.key?("HTTP_SEC_FETCH_SITE")

        # Returns a token for a form. Each call masks it differently, so that compressed pages do not reveal it
        # (https://www.breachattack.com).
        #
        # @param session [Session, Hash] stores the token
        def token(session)
          secret =
            secret(session) || SecureRandom.random_bytes(TOKEN).tap { |bytes| session["csrf"] = [bytes].pack("m0") }
          mask = SecureRandom.random_bytes(TOKEN)
          [mask + xor(secret, mask)].pack("m0").tr("+/", "-_").delete("=")
        end

        # @param token [Object] from the client
        # @param session [Session, Hash]
        def token?(token, session)
          secret = secret(session)
          return false unless secret && token.is_a?(String)
          bytes = token.tr("-_", "+/").ljust((token.bytesize + 3) / 4 * 4, "=").unpack1("m0")
          return false unless bytes.bytesize == 2 * TOKEN
          OpenSSL.fixed_length_secure_compare(xor(bytes.byteslice(TOKEN, TOKEN), bytes.byteslice(0, TOKEN)), secret)
        rescue ArgumentError # not Base64
          false
        end

        private

        def judge_site(site, same_site)
          case site
          when "same-origin", "none" then :own # none: a typed address or a bookmark
          when "same-site" then same_site ? :own : :forged
          else :forged
          end
        end

        def secret(session)
          secret = session["csrf"]&.unpack1("m0")
          secret if secret&.bytesize == TOKEN
        end

        def xor(one, other) = one.bytes.zip(other.bytes).map { |mine, theirs| mine ^ theirs }.pack("C*")
      end
    end

    class Settings
      # @!attribute forgery_protection
      #   @return [Boolean] whether to refuse forged requests: see {Forgery}; true by default
      setting(:forgery_protection, true) { |value| "must be true or false" unless [true, false].include?(value) }

      # @!attribute trusted_origins
      #   @return [Array<String>] other sites that may send forms, such as "https://pay.example"; none by default
      setting(:trusted_origins, [].freeze) do |value|
        "must be an Array of origins" unless value.is_a?(Array) && value.all?(String)
      end

      # @!attribute same_site_forms
      #   @return [Boolean] whether other hosts of the same domain may send forms; false by default
      setting(:same_site_forms, false) { |value| "must be true or false" unless [true, false].include?(value) }
    end
  end
end
