# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `cookies`, `session` and `flash`: created on first use, sent if changed.
      module Sessions
        # @private
        def self.included(controller)
          controller.finish_with :commit_flash, if: :@flash
          controller.finish_with :commit_session, if: :@session
          controller.finish_with :commit_cookies, if: :@cookies
        end

        # @return [Cookies]
        def cookies = @cookies ||= Cookies.new(env, secrets: settings.secrets, secure: secure_cookies?)

        # @raise [ConfigurationError] if there is no secret: see {Settings#secrets}
        def session
          return @session if @session
          shared = env["rack.session"]
          return shared if shared.is_a?(Session) # {RackSession} sends it
          @session = Session.new(cookies[session_cookie], secrets: cookies.secrets, lifetime: settings.session_lifetime)
        end

        # @return [Flash]
        def flash = @flash ||= Flash.new(session)

        private

        # Empties the session. Call it at sign-in, so that nothing remains of the earlier content, and at sign-out.
        def reset_session
          session.clear
          @flash = nil
        end

        def secure_cookies? = settings.secure_cookies.nil? ? env["rack.url_scheme"] == "https" : settings.secure_cookies

        def session_cookie = cookies.secure? ? "__Host-#{settings.session_name}" : settings.session_name

        def commit_flash = @flash.commit

        # A response that depends on the session must be private, for caches as well.
        def commit_session
          return unless @session.loaded?
          CacheControl.own(response.headers)
          vary("cookie")
          case (token = @session.commit)
          when nil then cookies.delete(session_cookie)
          when String
            attributes = {value: token, same_site: settings.session_same_site}
            attributes[:max_age] = settings.session_lifetime if settings.session_persistent
            cookies[session_cookie] = attributes
          end
        rescue CookieOverflow
          size = session_cookie.bytesize + token.bytesize
          raise CookieOverflow, "the session has #{size} bytes when it is encrypted, and browsers keep " \
            "#{Session::MAXIMUM} at most: keep large things in the database, and their id in the session"
        end

        # A response that sets a cookie is private, unlike one of an action that only reads some.
        def commit_cookies
          CacheControl.own(response.headers, nil) if @cookies.write(response.headers)
        end
      end
    end
  end
end
