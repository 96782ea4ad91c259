# frozen_string_literal: true

module Pelton
  module Web
    # Middleware: gives Rack applications and middleware the application's session as `env["rack.session"]`, shared with
    # the controllers and handled like theirs.
    #
    # {Application} puts it around foreign Rack code if it has secrets. A session from an outer application is kept.
    class RackSession
      KEY = "rack.session"
      CHANGED = %w[cache-control vary set-cookie].freeze
      private_constant :KEY, :CHANGED

      def initialize(app, settings)
        @app = app
        @settings = settings
      end

      # @asynchronous if the application waits
      def call(env)
        return @app.call(env) if env.key?(KEY)
        keeper = Keeper.new(env, {}, @settings)
        env[KEY] = keeper.session
        response = @app.call(env)
        return Deferral.change(env, response) { |later| keeper.send_session(later[1]) } if response[0] == -1
        keeper.send_session(response[1])
        response
      end

      # A controller without an action.
      # @private
      class Keeper < Controller
        include Opaque

        def send_session(headers)
          return unless session.loaded?
          own = self.headers
          CHANGED.each { |name| own.put(name, headers[name]) if headers.key?(name) }
          commit_session
          commit_cookies
          headers.merge!(own)
        end
      end
    end
  end
end
