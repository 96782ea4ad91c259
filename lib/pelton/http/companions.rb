# frozen_string_literal: true

require_relative "../companion"
require_relative "../pubsub"

module Pelton
  module HTTP
    # The programs that run alongside a server (`companion "bin/jobs"`). They find its topics by a variable of the
    # environment: see {PubSub.join}.
    # @private
    class Companions
      # @param configuration [Configuration]
      # @param hub [PubSub::Hub, nil] of the server's topics, where no other machine has them
      def initialize(configuration, hub)
        @configuration = configuration
        @environment = hub ? {PubSub::HUB => hub.path} : {"PELTON_PUBSUB" => configuration.pubsub}
        @companions = []
      end

      # @raise [SystemCallError] there is no such program
      def start
        @configuration.companions.each do |command|
          @companions << Companion.new(command, @environment) { Process.kill("TERM", Process.pid) }
        end
      end

      # Asks them to end.
      def stop = @companions.each(&:stop)

      # Waits for their end. Their time began when they were asked to end, as that of the requests did.
      def wait = stop.each { |companion| companion.wait(@configuration.shutdown_timeout) }

      # @return [Boolean] whether one has ended by itself
      def failed? = @companions.any?(&:failed?)
    end
  end
end
