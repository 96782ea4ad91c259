# frozen_string_literal: true

require "rackup/handler"
require "pelton/http/launcher"

module Rackup
  module Handler
    # `rackup -s pelton` and `rails server -u pelton`. Both log requests themselves, so the server does not, unless
    # config/pelton.rb says where.
    module Pelton
      # Seconds. In development, code is loaded in requests: that the loop stands still meanwhile is no news.
      PATIENCE = 1

      class << self
        # Serves until it is told to stop.
        #
        # @param options [Hash] rackup's Host and Port, and what {::Pelton::HTTP::Server#initialize} takes
        # @yieldparam launcher [::Pelton::HTTP::Launcher] once it listens
        def run(app, **options, &block)
          ::Pelton.watchdog = PATIENCE if options[:environment] == "development" && ::Pelton.watchdog == ::Pelton::Watchdog::DEFAULT
          ::Pelton::HTTP::Launcher.new(configuration(options), app: without_hints(app, options)).run(&block)
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

        # config/pelton.rb, if there is one, and rackup's options, which win.
        def configuration(options)
          ::Pelton::HTTP::Configuration.new.load.tap do |configuration|
            bind(configuration, options)
            configuration.log(File::NULL) unless configuration.log
            options.slice(*::Pelton::HTTP::Server::DEFAULTS.keys).each do |name, value|
              configuration.public_send(name, value)
            end
            ::Pelton.logger.warn("one process serves here: `pelton serve` knows workers") unless configuration.workers.zero?
          end
        end

        # Rails says which of its options the user has given: only those win over the file.
        def bind(configuration, options)
          given = options.fetch(:user_supplied_options, %i[Host Port])
          return unless configuration.binds.empty? || given.include?(:Host) || given.include?(:Port)
          [configuration.binds, configuration.modes].each(&:clear)
          host = options[:Host] || "localhost"
          configuration.port(options[:Port] || ::Pelton::HTTP::Configuration::PORT, host.include?(":") ? "[#{host}]" : host)
        end

        # Rails sends 103 Early Hints with each stylesheet where the server can, but only wants them with --early-hints.
        def without_hints(app, options)
          return app if options.fetch(:early_hints, true)
          ->(env) { app.call(env.tap { env.delete("rack.early_hints") }) }
        end
      end
    end

    register :pelton, Pelton
  end
end
