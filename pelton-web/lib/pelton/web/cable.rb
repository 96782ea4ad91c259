# frozen_string_literal: true

require "pelton/cable"
require_relative "../web"
require_relative "channels/channel"
require_relative "channels/connection"

module Pelton
  module Web
    class Settings
      # @!attribute cable
      #   @return [Hash{Symbol => Object}] options of {Pelton::Cable::Server#initialize}, such as `origins:`
      setting(:cable, {}) { |value| "must be a Hash of Pelton::Cable::Server's options" unless value.is_a?(Hash) }
    end

    class Application
      class << self
        # The server of the application's channels: `mount Shop.cable, at: "/cable"` in its routes. It needs
        # `require "pelton/web/cable"`. In development, clients reconnect after a reload, and get the new classes.
        #
        # @return [Pelton::Cable::Server]
        # @raise [ArgumentError] {Settings#cable} has an unknown option
        def cable
          @cable ||= Pelton::Cable::Server.new(connection: Connection::Current.new(settings),
            **settings.cable).tap do |server|
            _on_reload { server.disconnect(here: true) }
          end
        end
      end
    end
  end
end
