# frozen_string_literal: true

require_relative "address"

module Pelton
  module Record
    # The servers that only read. They are taken in turns; one that does not answer is left out for a while.
    # @private
    class Replicas
      DOWN = 5 # seconds for which a server that did not answer is left out
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
        @down = {} # index => until when
      end

      # @return [Integer]
      def size = @options.size

      # @return [Hash] Sequel's options of the next one
      def take
        now = Clock.now
        all = Array.new(size) { |i| (@next + 1 + i) % size }
        @next = all.find { |index| (@down[index] || 0) <= now } || all.first
        @options[Thread.current[:pelton_record_replica] = @next] # a fiber's
      end

      # The one that this fiber has taken last did not answer.
      def failed
        index = Thread.current[:pelton_record_replica] or return
        @down[index] = Clock.now + DOWN
      end

      # @return [Hash] Sequel's options of a database with them
      def settings(pool:, sticky:)
        return {} if size.zero?
        {servers: {read_only: ->(_database) { take }}, server_sizes: {read_only: pool}, sticky: sticky, replicas: self}
      end
    end
  end
end
