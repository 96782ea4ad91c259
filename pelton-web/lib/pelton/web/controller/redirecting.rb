# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `redirect_to` and `redirect_back`. They redirect to this host only, unless the program allows others, so that a
      # URL from a client cannot lead users to another site.
      module Redirecting
        private

        # Redirects the client.
        #
        # @param location [String] a path, or a URL
        # @param status [Integer, Symbol, nil] by default 302, or 303 for requests other than GET and HEAD, which
        #   clients follow by GET
        # @param allow_other_host [Boolean] whether it may be a URL of another host
        # @param notice [String, nil] a message for the next page: see {Flash}
        # @param alert [String, nil] another message, for errors
        # @param flash [Hash] messages with other names
        # @raise [BadRequest] if the location is another host's or malformed
        def redirect_to(location, status: nil, allow_other_host: false, notice: nil, alert: nil, flash: {})
          location = location.to_s
          refuse_redirection(location) unless allow_other_host ? url?(location) || here?(location) : here?(location)
          answer([], status: status || (%w[GET HEAD].include?(@env["REQUEST_METHOD"]) ? 302 : 303))
          {notice: notice, alert: alert, **flash}.each do |name, message|
            self.flash[name] = message unless message.nil?
          end
          response.headers["location"] = location.b.gsub(/[^\x21-\x7e]/n) { |byte| format("%%%02X", byte.ord) }
          nil
        end

        # Redirects the client to the page of this host that it came from.
        #
        # @param fallback [String] used if the client does not send one, or came from another host
        # @raise (see #redirect_to)
        def redirect_back(fallback:, **options)
          referer = @env["HTTP_REFERER"].to_s
          redirect_to(here?(referer) ? referer : fallback, **options)
        end

        # The location may come from the client or from a mistake in the program, whose author reads the log.
        def refuse_redirection(location)
          shown = location.sub(%r{//[^/?#]*@}, "//").sub(/[?#].*/m, "")[0, 200].inspect
          place = self.class.name ? "#{self.class.name}##{action_name}" : "the block of #{@env["pelton.web.route"]}"
          Pelton.logger&.warn("#{place}: redirect_to #{shown} is refused: " \
            "it leads to another host than #{request.base_url} " \
            "(`allow_other_host: true` allows that), or it is no address")
          raise BadRequest, "The redirection leads to another host, or to no address."
        end

        # Browsers take a backslash for a slash, and drop control characters: either could turn a path into a URL of
        # another host.
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
