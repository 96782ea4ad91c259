# frozen_string_literal: true

require_relative "error"

module Pelton
  module Web
    # An application's settings: one object, with a method and a writer for each. An unknown name raises, so a misspelt setting does not
    # pass unnoticed. They are frozen when the application boots.
    #
    #     class Shop < Pelton::Web::Application
    #       settings.root = __dir__
    #     end
    #
    # Each part of the framework declares its own settings, in its own file, by {Settings.setting}:
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
        # @param default [Object, Proc] a Proc is called with the settings when the setting is read and was not set
        # @yieldparam value [Object] that is to be set
        # @yieldreturn [String, nil] what is wrong with it
        def setting(name, default = nil, &check)
          define_method(:"default_of_#{name}") { default.is_a?(Proc) ? default.call(self) : default }
          private :"default_of_#{name}"
          # Requests read settings often.
          class_eval("def #{name} = defined?(@#{name}) ? @#{name} : @defaults ? @defaults[:#{name}] : default_of_#{name}", __FILE__, __LINE__)
          define_method(:"#{name}=") do |value|
            complaint = check&.call(value)
            raise ConfigurationError, "settings.#{name} #{complaint}: it is #{value.inspect}" if complaint
            raise ConfigurationError, "settings.#{name}: the application has booted; set it before the first request" if frozen?
            instance_variable_set(:"@#{name}", value)
          end
          names << name
        end

        # @return [Array<Symbol>] the names of all settings
        def names = @names ||= []
      end

      # @!attribute root
      #   @return [String] the folder of the application; the current one by default
      setting(:root, ->(_) { Dir.pwd }) { |value| "must be the path of a folder" unless value.is_a?(String) || value.respond_to?(:to_path) }

      # @!attribute environment
      #   @return [String] "development", "test" or "production"; RACK_ENV's value by default, and development without it
      setting(:environment, ->(_) { ENV["RACK_ENV"] || "development" }) { |value| "must be a String" unless value.is_a?(String) }

      # @!attribute base_url
      #   @return [String, nil] "https://example.com": the beginning of URLs that are made where there is no request, as in mails
      setting(:base_url) { |value| "must begin with http:// or https://, and have no slash at its end" unless value.nil? || value.match?(%r{\Ahttps?://[^/]+(?:/.*[^/])?\z}) }

      # The defaults hold from now on, whatever the process's environment becomes.
      def freeze
        @defaults ||= self.class.names.to_h { |name| [name, __send__(:"default_of_#{name}")] }
        super
      end

      # @return [Boolean] whether people program on this machine, so it may show them the insides
      def development? = environment == "development"

      # The settings of a subclass have defaults of their own.
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
        raise ConfigurationError, "there is no setting #{name.to_s.delete_suffix("=")}; there are #{self.class.names.sort.join(", ")}"
      end
    end
  end
end
