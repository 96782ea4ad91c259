# frozen_string_literal: true

module Pelton
  module HTTP
    # Middleware for applications of Rack 2, whose rules differ: several values of a header are one String with line
    # breaks between them, and the request's version is in HTTP_VERSION, too. {Server#initialize} uses it where that
    # Rack is loaded.
    # @private
    class Rack2
      # @param app [#call]
      def initialize(app)
        @app = app
      end

      # @asynchronous as the application
      def call(env)
        env["HTTP_VERSION"] = env["SERVER_PROTOCOL"]
        response = @app.call(env)
        status, headers, body = response
        return response unless headers.respond_to?(:each) && headers.any? { |_, value| several?(value) }
        [status, headers.to_h { |name, value| [name, several?(value) ? value.split("\n") : value] }, body]
      end

      private

      def several?(value) = value.is_a?(String) && value.include?("\n")
    end
  end
end
