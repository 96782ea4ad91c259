# frozen_string_literal: true

module Pelton
  module HTTP
    # Middleware for applications of a Rack before 3.1, whose specification does not know the path `*` of `OPTIONS *`,
    # which is about the server as a whole: such a request has the path "/". {Server#initialize} uses it where that Rack
    # is loaded.
    # @private
    class Asterisk
      # Whether the Rack that the program has loaded needs it.
      def self.needed?
        !!defined?(::Rack) && ::Rack.respond_to?(:release) && (::Rack.release.split(".").first(2).map(&:to_i) <=> [3,
          1]).negative?
      end

      # @param app [#call]
      def initialize(app)
        @app = app
      end

      # @asynchronous as the application
      def call(env)
        env["PATH_INFO"] = "/" if env["PATH_INFO"] == "*"
        @app.call(env)
      end
    end
  end
end
