# frozen_string_literal: true

require_relative "error"

module Pelton
  module Record
    # What differs between the databases, beyond their SQL: how a connection is checked, given up, and left to the parent after a fork.
    # @private
    class Driver
      # @return [String] the database's address, without a password
      attr_reader :name

      # @return [Sequel::Database]
      attr_accessor :database

      def initialize(name)
        @name = name
      end

      # @return [Boolean] whether a query that an exception has interrupted leaves its connection in an unknown state
      def unusable_after_interruption? = true

      # @return [Boolean] whether a connection that was idle for long is alive
      # @asynchronous
      def usable?(_connection) = true

      # Closes a slot's connection and calls the block.
      def discard(slot)
        database.disconnect_connection(slot.connection)
      ensure
        yield
      end

      # Drops connections in a child after a fork, without a word to the server: their sessions are the parent's.
      def forget(connections)
      end

      # @return [String] what can be done about an error of connecting
      def advice(error) = error.message

      # Loads a gem of a driver.
      #
      # @raise [ConfigurationError] when it is missing
      def self.need(gem, feature = gem)
        require feature
      rescue LoadError => error
        raise unless error.path == feature
        raise ConfigurationError, "the driver is missing: gem install #{gem}, or add gem #{gem.inspect} to the Gemfile"
      end
    end
  end
end
