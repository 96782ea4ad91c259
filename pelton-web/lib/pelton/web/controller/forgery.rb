# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # Refuses requests forged by another site, before each action: see {Web::Forgery}.
      module Forgery
        # Raised if the request was forged, or the client does not show that it was not.
        class Refused < Forbidden
        end

        # @private
        def self.included(controller)
          controller.extend(Skipping)
          controller.before_action :refuse_forgery
        end

        # @private
        module Skipping
          # Accepts requests from other sites: for webhooks, and for APIs that do not identify clients by cookies.
          #
          # @param only [Symbol, Array<Symbol>, nil] the actions; nil: all
          def skip_forgery_protection(only: nil) = skip_before_action(:refuse_forgery, only: only)
        end

        # @return [String] for the form field `authenticity_token` or the header `x-csrf-token`; makes the page private
        def form_authenticity_token
          @_tokens = _tokens + 1
          Web::Forgery.token(session)
        end

        # How many tokens were used: a text with one is for this client only.
        def _tokens = @_tokens || 0

        # A hidden field with a token, for the few clients that do not send where requests come from. For all others it
        # is empty, and the page can be cached.
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
            raise Refused,
              "The form was sent by another site (#{(env["HTTP_ORIGIN"] || env["HTTP_SEC_FETCH_SITE"]).inspect}). " \
              "This is #{Web::Forgery.own_origin(env)}."
          when :unknown
            token = env["HTTP_X_CSRF_TOKEN"] || params["authenticity_token"]
            unless Web::Forgery.token?(token, session)
              raise Refused,
                "The form is too old, or it was sent by another site. Load its page again and send it once more."
            end
          end
        end
      end
    end
  end
end
