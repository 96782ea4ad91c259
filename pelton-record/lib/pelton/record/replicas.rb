# frozen_string_literal: true

require_relative "address"

module Pelton
  module Record
    # The servers that only read. They are taken in turns.
    # @private
    class Replicas
      STICKY = 2 # seconds for which a fiber that has written reads from the primary

      # @param addresses [Array<String>]
      # @param primary [Address]
      # @raise [ConfigurationError] when one is of another kind than the primary
      def initialize(addresses, primary)
        @options = addresses.map do |text|
          address = Address.new(text)
          raise ConfigurationError, "#{address}: SQLite has no replicas" if address.driver == :sqlite
          raise ConfigurationError, "#{address}: a replica of #{primary} must be #{primary.driver}, too" unless address.driver == primary.driver
          address.options
        end
        @next = -1
      end

      # @return [Integer]
      def size = @options.size

      # @return [Hash] Sequel's options of the next one
      def take = @options[(@next += 1) % size]

      # @return [Hash] Sequel's options of a database with them
      def settings(pool:, sticky:)
        return {} if size.zero?
        {servers: {read_only: ->(_database) { take }}, server_sizes: {read_only: pool}, sticky: sticky, attempts: size}
      end
    end
  end
end
