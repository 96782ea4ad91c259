# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # Refuses requests that another site has forged, before each action: see {Web::Forgery}.
      module Forgery
        # The request was forged, or its client does not say that it was not.
        class Refused < Forbidden
        end

        # @private
        def self.included(controller)
          controller.extend(Skipping)
          controller.before_action :refuse_forgery
        end

        # @private
        module Skipping
          # Takes requests of other sites: for webhooks, and for an API whose clients are known by other means than cookies.
          #
          # @param only [Symbol, Array<Symbol>, nil] the actions; nil: all
          def skip_forgery_protection(only: nil) = skip_before_action(:refuse_forgery, only: only)
        end

        # @return [String] for the form field `authenticity_token` or the header `x-csrf-token`. The page is one client's own then
        def form_authenticity_token
          @_tokens = _tokens + 1
          Web::Forgery.token(session)
        end

        # The number of tokens that were asked for: a text with one is this client's own.
        def _tokens = @_tokens || 0

        # A form's hidden field with a token, for clients whose browser does not say where requests come from. For all others, which is
        # nearly everybody, it is empty, and the page can be cached.
        #
        # @return [String] HTML
        def csrf_field
          return "" if Web::Forgery.known_by_headers?(env)
          %(<input type="hidden" name="authenticity_token" value="#{form_authenticity_token}">)
        end

        private

        # @raise [Refused]
        def refuse_forgery
          return if Web::Forgery::SAFE.include?(env["REQUEST_METHOD"]) || !settings.forgery_protection
          case Web::Forgery.judge(env, trusted_origins: settings.trusted_origins, same_site: settings.same_site_forms)
          when :forged
            raise Refused, "The form was sent by another site (#{(env["HTTP_ORIGIN"] || env["HTTP_SEC_FETCH_SITE"]).inspect}). This is #{Web::Forgery.own_origin(env)}."
          when :unknown
            token = env["HTTP_X_CSRF_TOKEN"] || params["authenticity_token"]
            raise Refused, "The form is too old, or it was sent by another site. Load its page again and send it once more." unless Web::Forgery.token?(token, session)
          end
        end
      end
    end
  end
end
