# frozen_string_literal: true

require "rackup/handler"
require "pelton/http/launcher"

module Rackup
  module Handler
    # `rackup -s pelton`.
    module Pelton
      class << self
        # Serves until it is told to stop.
        #
        # @param options [Hash] rackup's Host and Port, and what {::Pelton::HTTP::Server#initialize} takes
        # @yieldparam launcher [::Pelton::HTTP::Launcher] once it listens
        def run(app, **options, &block)
          ::Pelton::HTTP::Launcher.new(configuration(options), app: app).run(&block)
        end

        def valid_options
          {
            "Host=HOST" => "Hostname to listen on (default: localhost)",
            "Port=PORT" => "Port to listen on (default: #{::Pelton::HTTP::Configuration::PORT})",
            "concurrency=COUNT" => "Requests that run at once",
            "request_timeout=SECONDS" => "Time for a request; then 504"
          }
        end

        private

        # rackup logs requests itself, and gives numbers as Strings.
        def configuration(options)
          host = options[:Host] || "localhost"
          ::Pelton::HTTP::Configuration.new.tap do |configuration|
            configuration.port(options[:Port] || ::Pelton::HTTP::Configuration::PORT, host.include?(":") ? "[#{host}]" : host)
            configuration.log(File::NULL)
            options.slice(*::Pelton::HTTP::Server::DEFAULTS.keys).each do |name, value|
              configuration.public_send(name, value.is_a?(String) ? number(value) : value)
            end
          end
        end

        def number(text) = text.include?(".") ? Float(text) : Integer(text)
      end
    end

    register :pelton, Pelton
  end
end
