# frozen_string_literal: true

require_relative "error"

module Pelton
  module Web
    # An application's settings, with a reader and a writer for each. An unknown name raises. They are frozen at boot.
    #
    #     class Shop < Pelton::Web::Application
    #       settings.root = __dir__
    #     end
    #
    # Each part of the framework declares its settings in its own file, by {Settings.setting}:
    #
    #     class Settings
    #       # @!attribute allowed_hosts
    #       #   @return [Array<String>] ...
    #       setting(:allowed_hosts, []) { |value| "must be an Array" unless value.is_a?(Array) }
    #     end
    class Settings
      include Opaque

      class << self
        # Declares a setting.
        #
        # @param name [Symbol]
        # @param default [Object, Proc] a Proc gets the settings, and is called when the setting is read without having
        #   been set
        # @param shown [Boolean] whether errors may contain a value
        # @yieldparam value [Object] the new value
        # @yieldreturn [String, nil] an error message
        def setting(name, default = nil, shown: true, &check)
          define_method(:"default_of_#{name}") { default.is_a?(Proc) ? default.call(self) : default }
          private :"default_of_#{name}"
          # Requests read settings often.
          class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
            def #{name} = defined?(@#{name}) ? @#{name} : @defaults ? @defaults[:#{name}] : default_of_#{name}
          RUBY
          define_method(:"#{name}=") do |value|
            complaint = check&.call(value)
            raise ConfigurationError, "settings.#{name} #{complaint}#{": it is #{value.inspect}" if shown}" if complaint
            if frozen?
              raise ConfigurationError, "settings.#{name}: the application has booted; set it before the first request"
            end
            instance_variable_set(:"@#{name}", value)
          end
          names << name
        end

        # @return [Array<Symbol>] the names of all settings
        def names = @names ||= []
      end

      # @!attribute root
      #   @return [String] the application's folder; by default the current one
      setting(:root, ->(_) { Dir.pwd }) do |value|
        "must be the path of a folder" unless value.is_a?(String) || value.respond_to?(:to_path)
      end

      # @!attribute environment
      #   @return [String] "development", "test" or "production"; by default RACK_ENV, or else development
      setting(:environment, ->(_) { ENV["RACK_ENV"] || "development" }) do |value|
        "must be a String" unless value.is_a?(String)
      end

      # @!attribute base_url
      #   @return [String, nil] the beginning of URLs without a request, as in mails: "https://example.com"
      setting(:base_url) do |value|
        unless value.nil? || value.match?(%r{\Ahttps?://[^/]+(?:/.*[^/])?\z})
          "must begin with http:// or https://, and have no slash at its end"
        end
      end

      # Also fixes the defaults, whatever happens to the process's environment.
      #
      # @raise [ConfigurationError] if something that was not set has no default here
      def freeze
        unset = self.class.names.reject { |name| instance_variable_defined?(:"@#{name}") }
        @defaults ||= unset.to_h { |name| [name, __send__(:"default_of_#{name}")] }
        super
      end

      # @return [Boolean] whether errors may be shown to requests from this machine
      def development? = environment == "development"

      # A subclass has its own defaults.
      #
      # @private
      def initialize_copy(other)
        super
        @defaults = nil
      end

      # @private
      def respond_to_missing?(*) = false

      # @raise [ConfigurationError] always: there is no such setting
      def method_missing(name, *)
        name = name.to_s.delete_suffix("=")
        names = self.class.names.sort
        raise ConfigurationError,
          "there is no setting #{name}#{Pelton.suggestion(name, names)} (there are #{names.join(", ")})"
      end
    end
  end
end
