# frozen_string_literal: true

require_relative "address"

module Pelton
  module Database
    # The servers that only read. They are taken in turns; one that does not answer is left out for a while, then one fiber tries it again.
    # @private
    class Replicas
      include Opaque

      DOWN = 5 # seconds for which a server that did not answer is left out
      STICKY = 2 # seconds for which a fiber that has written reads from the primary

      # @return [Boolean] whether the primary answers when no replica does
      attr_reader :fallback

      # @param addresses [Array<String>]
      # @param primary [Address]
      # @param fallback [Boolean]
      # @raise [ConfigurationError] when one is of another kind than the primary
      def initialize(addresses, primary, fallback: true)
        @addresses = addresses.map do |text|
          address = Address.new(text)
          raise ConfigurationError, "#{address}: SQLite has no replicas" if address.driver == :sqlite
          raise ConfigurationError, "#{address}: a replica of #{primary} must be #{primary.driver}, too" unless address.driver == primary.driver
          address
        end
        @fallback = fallback
        @next = -1
        @down = {} # index => until when
        @mutex = Mutex.new
      end

      # @return [Integer]
      def size = @addresses.size

      # @return [String] without a password
      def name(index) = @addresses[index].to_s

      # @return [Boolean] whether one is not left out
      def any_up? = @down.size < size || @down.any? { |_, till| till <= Clock.now }

      # Chooses the next one, for this fiber. One that was left out is, for all others, until it has answered.
      #
      # @return [Integer] its index
      def choose
        @mutex.synchronize do
          now = Clock.now
          all = Array.new(size) { |i| (@next + 1 + i) % size }
          @next = all.find { |index| (@down[index] || 0) <= now } || all.first
          @down[@next] = now + DOWN if @down.key?(@next)
          Thread.current[:pelton_database_replica] = @next # a fiber's
        end
      end

      # @return [Hash] Sequel's options of the one that this fiber has chosen
      def take = @addresses[(Thread.current[:pelton_database_replica] || choose) % size].options

      # @param index [Integer] of the one that did not answer
      def failed(index) = @mutex.synchronize { @down[index] = Clock.now + DOWN }

      # @param index [Integer] of the one that has answered
      def answered(index)
        @mutex.synchronize { @down.delete(index) } if @down.key?(index)
      end

      # @return [Hash] Sequel's options of a database with them
      def settings(pool:, sticky:)
        return {} if size.zero?
        {servers: {read_only: ->(_database) { take }}, server_sizes: {read_only: pool}, sticky: sticky, replicas: self}
      end
    end
  end
end
