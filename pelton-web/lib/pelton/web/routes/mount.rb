# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # A Rack application below a path.
      class Mount
        # @return [String] without a trailing slash: "" for the root
        attr_reader :path
        attr_reader :app

        # @raise [ConfigurationError] if there is no application, or the path contains variables
        def initialize(app, path)
          unless app.respond_to?(:call)
            raise ConfigurationError, "mount: #{app.inspect} is no Rack application: it must respond to call"
          end
          unless path.is_a?(String) && path.match?(%r{\A/[^:*()]*\z})
            raise ConfigurationError, "mount at: #{path.inspect}: give a path without variables"
          end
          @app = app
          @path = path.chomp("/")
        end

        # @param path [String] PATH_INFO as the client sent it
        def takes?(path) = path.start_with?(@path) && (path.size == @path.size || path[@path.size] == "/")

        # @return [String] the path, for logs and metrics
        def to_s = "#{@path}/*"

        # @return [Array] Rack's response
        # @asynchronous if the application waits
        def call(env)
          env["pelton.web.route"] = self
          return @app.call(env) if @path.empty?
          @app.call(
            env.merge("SCRIPT_NAME" => env["SCRIPT_NAME"] + @path, "PATH_INFO" => env["PATH_INFO"][@path.size..])
          )
        end
      end
    end
  end
end
