# frozen_string_literal: true

module Pelton
  module Web
    # Middleware: responds only to requests for the site's own hosts; others get 421. Otherwise a page that repeats the
    # host, in a link or a redirect, would repeat whatever a client sends.
    #
    #     use Pelton::Web::Hosts, ["shop.example", ".shop.example", "localhost:9292", "[::1]"]
    #
    # A name that begins with a dot matches all hosts below it. Without a port it matches all ports.
    class Hosts
      HOST = /\A(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)\.?(:\d{1,5})?\z/
      # The last one is Rack's, for tests
      DEVELOPMENT = %w[localhost .localhost 127.0.0.1 [::1] .test example.org].freeze
      KNOWN = 1000 # remembered Host headers
      private_constant :HOST, :KNOWN

      # @private
      def self.wrap(app, settings) = settings.hosts ? new(app, settings.hosts) : app

      # @raise [ConfigurationError] if a host is malformed
      def initialize(app, allowed)
        @app = app
        @exact, below = allowed.map { |host| host.downcase }.partition { |host| !host.start_with?(".") }
        @below = below.freeze
        wrong = [*@exact, *below.map { |host| host[1..] }].find { |host| !HOST.match?(host) }
        if wrong
          raise ConfigurationError,
            "hosts: #{wrong.inspect}: write shop.example, .shop.example, shop.example:8080 or [::1]"
        end
        @known = {}
      end

      # @asynchronous if the application waits
      def call(env)
        host = env["HTTP_HOST"] || env["SERVER_NAME"]
        case @known.fetch(host) { remember(host, verdict(host.to_s.b.downcase)) }
        when :allowed then @app.call(env)
        when :malformed then Problem.new(400, detail: "The Host header is malformed.").response(env)
        else Problem.new(421, detail: "This site has another name.").response(env)
        end
      end

      private

      def verdict(host)
        name, port = HOST.match(host)&.captures
        return :malformed unless name
        return :allowed if @exact.include?(name) || @exact.include?("#{name}#{port}")
        (@below.any? { |ending| name.end_with?(ending) }) ? :allowed : :other
      end

      def remember(host, verdict)
        @known.clear if @known.size >= KNOWN
        @known[host] = verdict
      end
    end

    class Settings
      # @!attribute hosts
      #   @return [Array<String>, nil] the site's names: see {Hosts}. By default this machine's in development;
      #     otherwise nil, for all
      setting(:hosts, ->(settings) { Hosts::DEVELOPMENT if settings.development? }) do |value|
        "must be an Array of host names, or nil" if value && !(value.is_a?(Array) && value.all?(String))
      end
    end
  end
end
