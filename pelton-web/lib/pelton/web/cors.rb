# frozen_string_literal: true

module Pelton
  module Web
    # Middleware: lets scripts of other sites read the responses (https://fetch.spec.whatwg.org/#http-cors-protocol). Without it browsers allow
    # nobody. Origins are compared exactly; the client's origin is never simply repeated.
    #
    #     use Pelton::Web::CORS, origins: ["https://app.example"], methods: %w[GET POST], headers: %w[content-type], credentials: true
    #
    # It does not refuse requests of other origins: the browser keeps their answers from the script. Requests that change something are
    # refused by {Controller::Forgery}, unless their origin is named here and their method is one of `methods`. With `["*"]` all are
    # refused: an action that anybody may call says `skip_forgery_protection`.
    class CORS
      ORIGIN = %r{\Ahttps?://(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d+)?\z}
      ANY = "*"
      private_constant :ORIGIN, :ANY

      # In the env of requests from an origin that is named: {Forgery} takes them as the site's own.
      TRUSTED = "pelton.web.cors"

      # @private
      def self.wrap(app, settings) = settings.cors ? new(app, **settings.cors) : app

      # @param app [#call]
      # @param origins [Array<String>] "https://app.example", with its port unless it is the scheme's; ["*"]: all, for what is public anyway
      # @param methods [Array<String>]
      # @param headers [Array<String>] of requests, beyond those that every script may send
      # @param credentials [Boolean] whether cookies count
      # @param expose [Array<String>] headers of responses that scripts may read
      # @param max_age [Integer] seconds for which browsers remember the answer
      # @param path [String] the beginning of the paths for which this holds
      # @raise [ConfigurationError] an origin is malformed, or all are allowed with credentials
      def initialize(app, origins:, methods: %w[GET HEAD POST], headers: [], credentials: false, expose: [], max_age: 600, path: "/")
        @app = app
        @any = origins == [ANY]
        @origins = origins.map(&:downcase).freeze
        check(credentials)
        @methods = methods.map { |verb| verb.to_s.upcase }.freeze
        @headers = headers.map(&:downcase).freeze
        @credentials = credentials
        @expose = (expose.join(", ") if expose.any?)
        @max_age = Integer(max_age).to_s
        @path = path.chomp("/")
      end

      # @asynchronous where the application waits
      def call(env)
        return @app.call(env) unless covers?(env["PATH_INFO"])
        origin = env["HTTP_ORIGIN"]
        return preflight(env, origin) if env["REQUEST_METHOD"] == "OPTIONS" && origin && env["HTTP_ACCESS_CONTROL_REQUEST_METHOD"]
        env[TRUSTED] = true if !@any && allowed?(origin) && @methods.include?(env["REQUEST_METHOD"])
        response = @app.call(env)
        return Deferral.change(env, response) { |later| permit(origin, later[1]) } if response[0] == -1
        permit(origin, response[1])
        response
      end

      private

      def permit(origin, headers)
        vary(headers, "origin") unless @any
        headers.merge!(permission(origin, "access-control-expose-headers" => @expose)) if allowed?(origin)
      end

      def check(credentials)
        raise ConfigurationError, "cors: origins: name the origins whose scripts may use cookies: \"*\" and credentials do not go together" if @any && credentials
        wrong = @origins.find { |origin| !ORIGIN.match?(origin) } unless @any
        raise ConfigurationError, "cors: origins: #{wrong.inspect}: write \"https://app.example\", without a path" if wrong
      end

      def covers?(path) = path == @path || path.start_with?("#{@path}/")

      def allowed?(origin) = !!origin && (@any || @origins.include?(origin))

      def preflight(env, origin)
        verb = env["HTTP_ACCESS_CONTROL_REQUEST_METHOD"]
        names = env["HTTP_ACCESS_CONTROL_REQUEST_HEADERS"].to_s.downcase.split(",").map(&:strip)
        headers = {"vary" => "origin, access-control-request-method, access-control-request-headers"}
        return [403, headers, []] unless allowed?(origin) && @methods.include?(verb) && (names - @headers).empty?
        lists = {"access-control-allow-methods" => @methods.join(", "), "access-control-allow-headers" => (@headers.join(", ") if @headers.any?)}
        [204, headers.merge!(permission(origin, "access-control-max-age" => @max_age, **lists)), []]
      end

      def permission(origin, more)
        headers = {"access-control-allow-origin" => @any ? ANY : origin}
        headers["access-control-allow-credentials"] = "true" if @credentials
        headers.merge!(more.compact)
      end

      def vary(headers, name)
        headers["vary"] = [headers["vary"], name].compact.join(", ") unless headers["vary"].to_s.match?(/\b#{name}\b|\*/i)
      end
    end

    class Settings
      # @!attribute cors
      #   @return [Hash, nil] the options of {CORS#initialize}; nil, the default: scripts of other sites read nothing
      setting(:cors) { |value| "must be a Hash or nil" unless value.nil? || value.is_a?(Hash) }
    end
  end
end
