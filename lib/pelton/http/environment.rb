# frozen_string_literal: true

require_relative "configuration"

module Pelton
  module HTTP
    # The settings of `pelton serve` in environment variables, as containers have them: PELTON_WORKERS for `workers`,
    # PELTON_MAX_BODY for `max_body`. They win over the configuration file: who starts a program decides after whom who
    # wrote it. WEB_CONCURRENCY and PORT, which are not Pelton's alone, are defaults, and the file wins over them, as
    # with Puma. An empty variable counts as one that is not set.
    #
    # There is no PELTON_PORT: next to a service with the name pelton, Kubernetes sets it to an address in each
    # container.
    # @private
    class Environment
      # Each setting has one, but `environment`, which has RACK_ENV, APP_ENV and RAILS_ENV.
      VARIABLES =
        SETTINGS.reject { |setting| setting.name == :environment }
          .to_h { |setting| [setting.variable, setting.name] }.freeze
      # Variables that are read elsewhere.
      OTHERS =
        %w[PELTON_CONFIG PELTON_BIND PELTON_WATCHDOG PELTON_BACKEND PELTON_SOCKETS PELTON_PUBSUB_KEPT
          PELTON_PUBSUB_HUB].freeze
      # What Kubernetes sets in each container for a service whose name begins with "pelton", and the lab for its
      # servers.
      FOREIGN = /\APELTON(?:_\w+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)\z|\APELTON_LAB_/
      private_constant :OTHERS, :FOREIGN

      # @param variables [Hash{String => String}, ENV]
      def initialize(variables = ENV)
        @variables = variables
      end

      # Sets what the environment and the configuration file say.
      #
      # @param file [String, nil] the configuration file; nil: PELTON_CONFIG, or the first of {Configuration::PLACES}
      #   that exists
      # @raise [Configuration::Invalid] the file, or a variable, is invalid, or a variable looks like a misspelt one;
      #   the message names it
      def apply(configuration, file: nil)
        refuse_misspelt
        set("WEB_CONCURRENCY") { |text| configuration.workers(text) }
        configuration.load(*file || value("PELTON_CONFIG"))
        set("PORT") { |text| configuration.port(text) } if configuration.binds.empty?
        set("PELTON_BIND") do |text|
          configuration.clear_binds
          text.split.each { |address| configuration.bind(address) }
        end
        VARIABLES.each { |variable, setting| set(variable) { |text| configuration.public_send(setting, text) } }
      end

      # @return [Array<String>] the variables that begin with PELTON_ and are none of Pelton's
      def unknown
        (@variables.keys - known).select { |name| name.start_with?("PELTON_") && !FOREIGN.match?(name) }.sort
      end

      private

      def known = VARIABLES.keys + OTHERS

      def refuse_misspelt
        unknown.each do |name|
          words = known.map { |variable| variable.delete_prefix("PELTON_") } # or else all would be alike
          suggestion = Pelton.suggestion(name.delete_prefix("PELTON_"), words).sub("mean ", "mean PELTON_")
          next if suggestion.empty?
          raise Configuration::Invalid, "the environment variable #{name} is none of Pelton's#{suggestion}"
        end
      end

      def value(name) = @variables[name]&.strip&.then { |text| text unless text.empty? }

      def set(name)
        text = value(name)
        yield text if text
      rescue ArgumentError => error
        raise Configuration::Invalid, "the environment variable #{name}: #{error.message}"
      end
    end
  end
end
