# frozen_string_literal: true

require_relative "configuration"

module Pelton
  module HTTP
    # The settings of `pelton serve` in environment variables, as containers have them: PELTON_WORKERS for `workers`, PELTON_MAX_BODY for
    # `max_body`. They win over the configuration file: who starts a program decides after whom who wrote it. WEB_CONCURRENCY and PORT, which
    # are not Pelton's alone, are defaults, and the file wins over them, as with Puma. An empty variable counts as one that is not set.
    #
    # There is no PELTON_PORT: beside a service with the name pelton, Kubernetes sets it to an address in each container.
    # @private
    class Environment
      # The settings that have a variable. `environment` has RACK_ENV, APP_ENV and RAILS_ENV.
      SETTINGS = %i[rackup workers preload quiet log log_format control shutdown_timeout pidfile tag live_path ready_path pubsub secure early_hints boot_timeout
        worker_timeout worker_memory].push(*Server::DEFAULTS.keys).freeze
      SWITCHES = %i[preload quiet secure early_hints].freeze
      WORDS = {"1" => true, "true" => true, "yes" => true, "on" => true, "0" => false, "false" => false, "no" => false, "off" => false}.freeze
      # Variables that are read elsewhere.
      OTHERS = %w[CONFIG BIND WATCHDOG BACKEND SOCKETS PUBSUB_KEPT PUBSUB_HUB].freeze
      # What Kubernetes sets in each container for a service whose name begins with "pelton", and the lab for its
      # servers.
      FOREIGN = /\APELTON(?:_\w+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)\z|\APELTON_LAB_/
      private_constant :SWITCHES, :WORDS, :OTHERS, :FOREIGN

      # @param setting [Symbol]
      # @return [String] the name of its variable
      def self.variable(setting) = "PELTON_#{setting.upcase}"

      # @param variables [Hash{String => String}, ENV]
      def initialize(variables = ENV)
        @variables = variables
      end

      # Sets what the environment and the configuration file say.
      #
      # @param file [String, nil] the configuration file; nil: PELTON_CONFIG, or the first of {Configuration::PLACES} that exists
      # @raise [Configuration::Invalid] the file, or a variable, is invalid, or a variable looks like a misspelt one; the
      #   message names it
      def apply(configuration, file: nil)
        refuse_misspelt
        set("WEB_CONCURRENCY") { |text| configuration.workers(text) }
        configuration.load(*file || value("PELTON_CONFIG"))
        set("PORT") { |text| configuration.port(text) } if configuration.binds.empty?
        set("PELTON_BIND") do |text|
          configuration.clear_binds
          text.split.each { |address| configuration.bind(address) }
        end
        SETTINGS.each do |setting|
          set(Environment.variable(setting)) { |text| configuration.public_send(setting, SWITCHES.include?(setting) ? switch(text) : text) }
        end
      end

      # @return [Array<String>] the variables that begin with PELTON_ and are none of Pelton's
      def unknown
        known = names.map { |name| "PELTON_#{name}" }
        (@variables.keys - known).select { |name| name.start_with?("PELTON_") && !FOREIGN.match?(name) }.sort
      end

      private

      def names = SETTINGS.map { |setting| setting.to_s.upcase } + OTHERS

      def refuse_misspelt
        unknown.each do |name|
          suggestion = Pelton._suggestion(name.delete_prefix("PELTON_"), names).sub("mean ", "mean PELTON_")
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

      def switch(text) = WORDS.fetch(text.downcase) { raise ArgumentError, "must be true or false, not #{text.inspect}" }
    end
  end
end
