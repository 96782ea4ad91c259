# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `redirect_to` and `redirect_back`. A redirection leads to this host, unless the program allows another: an address that a client
      # has given does not lead its users away.
      module Redirecting
        private

        # Sends the client to another address.
        #
        # @param location [String] a path, or a URL
        # @param status [Integer, Symbol, nil] otherwise 302; 303 for requests that are not GET or HEAD, so that the client gets the new address
        # @param allow_other_host [Boolean] whether it may be another host's URL
        # @param notice [String, nil] a message for the page there: see {Flash}
        # @param alert [String, nil] another one, of what went wrong
        # @param flash [Hash] messages of other names
        # @raise [BadRequest] the location is another host's, or no address
        def redirect_to(location, status: nil, allow_other_host: false, notice: nil, alert: nil, flash: {})
          location = location.to_s
          refuse_redirection(location) unless allow_other_host ? url?(location) || here?(location) : here?(location)
          answer([], status: status || (%w[GET HEAD].include?(@env["REQUEST_METHOD"]) ? 302 : 303))
          {notice: notice, alert: alert, **flash}.each { |name, message| self.flash[name] = message unless message.nil? }
          response.headers["location"] = location.b.gsub(/[^\x21-\x7e]/n) { |byte| format("%%%02X", byte.ord) }
          nil
        end

        # Sends the client back to the page of this host whose link or form it has followed.
        #
        # @param fallback [String] the address when the client does not say, or came from another host
        # @raise (see #redirect_to)
        def redirect_back(fallback:, **options)
          referer = @env["HTTP_REFERER"].to_s
          redirect_to(here?(referer) ? referer : fallback, **options)
        end

        # The client may have given the address, or the program may be wrong: its author reads the log.
        def refuse_redirection(location)
          shown = location.sub(%r{//[^/?#]*@}, "//").sub(/[?#].*/m, "")[0, 200].inspect
          Pelton.logger&.warn("#{self.class.name&.then { |name| "#{name}##{action_name}" } || "the block of #{@env["pelton.web.route"]}"}: redirect_to #{shown} is refused: it leads to another host than #{request.base_url} " \
            "(`allow_other_host: true` allows that), or it is no address")
          raise BadRequest, "The redirection leads to another host, or to no address."
        end

        # Browsers take a backslash for a slash, and drop control characters: both could make a path another host's URL.
        def here?(location)
          return false if location.match?(/[\0-\x20\x7f\\]/)
          return !location.start_with?("//") if location.start_with?("/")
          base = request.base_url
          location.start_with?(base) && ["", "/", "?", "#"].include?(location[base.size, 1])
        end

        def url?(location) = location.match?(%r{\Ahttps?://[^\0-\x20\x7f\\/?#]+(?:[/?#][^\0-\x20\x7f]*)?\z})
      end
    end
  end
end
