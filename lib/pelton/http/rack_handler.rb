# frozen_string_literal: true

require_relative "launcher"

module Pelton
  module HTTP
    # What Rackup::Handler::Pelton and, with Rack 2, Rack::Handler::Pelton can do: `rackup -s pelton` and
    # `rails server -u pelton`. Both log requests themselves, so the server does not, unless config/pelton.rb sets
    # `log`.
    module RackHandler
      # The watchdog's threshold in development, in seconds. Requests load code there, which blocks the loop for a
      # while.
      THRESHOLD = 1

      # Serves until a signal comes.
      #
      # @param options [Hash] rackup's Host and Port, and the options of {Server#initialize}
      # @yieldparam launcher [Launcher] once it listens
      def run(app, **options, &block)
        Pelton.watchdog = THRESHOLD if options[:environment] == "development" && Pelton.watchdog == Watchdog::DEFAULT
        Launcher.new(configuration(options), app: app).run(&block)
      end

      def valid_options
        {
          "Host=HOST" => "Hostname to listen on (default: localhost)",
          "Port=PORT" => "Port to listen on (default: #{Configuration::PORT})",
          "concurrency=COUNT" => "Requests that run at once",
          "request_timeout=SECONDS" => "Time until the response begins; then 504",
          "early_hints=true" => "Let the application send 103 Early Hints"
        }
      end

      private

      # Combines config/pelton.rb, if there is one, with rackup's options, which win.
      def configuration(options)
        Configuration.new.load.tap do |configuration|
          bind(configuration, options)
          configuration.log(File::NULL) unless configuration.log
          # Rails gives nil for early hints that were not asked for
          options.slice(*Server::DEFAULTS.keys).compact.each do |name, value|
            configuration.public_send(name, value)
          end
          unless configuration.workers.zero?
            Pelton.logger.warn("rackup and rails serve with one process: `pelton serve` has workers")
          end
        end
      end

      # Rails lists the options that the user has given: only those win over the file.
      def bind(configuration, options)
        given = options.fetch(:user_supplied_options, %i[Host Port])
        return unless configuration.binds.empty? || given.include?(:Host) || given.include?(:Port)
        [configuration.binds, configuration.modes].each(&:clear)
        host = options[:Host] || "localhost"
        configuration.port(options[:Port] || Configuration::PORT, host.include?(":") ? "[#{host}]" : host)
      end
    end
  end
end
