# frozen_string_literal: true

require_relative "address"

module Pelton
  module Sequel
    # The read-only servers, used in turn. One that fails is skipped for a while; then one fiber tries it again.
    # @private
    class Replicas
      include Opaque

      DOWN = 5 # seconds for which a failed replica is skipped
      STICKY = 2 # seconds for which a fiber that has written reads from the primary

      # @return [Boolean] whether reads go to the primary if all replicas fail
      attr_reader :fallback

      # @param addresses [Array<String>]
      # @param primary [Address]
      # @param fallback [Boolean]
      # @raise [ConfigurationError] if one has another driver than the primary
      def initialize(addresses, primary, fallback: true)
        @addresses = addresses.map do |text|
          address = Address.new(text)
          raise ConfigurationError, "#{address}: SQLite has no replicas" if address.driver == :sqlite
          unless address.driver == primary.driver
            raise ConfigurationError, "#{address}: a replica of #{primary} must be #{primary.driver}, too"
          end
          address
        end
        @fallback = fallback
        @next = -1
        @down = {} # index => when to try it again
        @mutex = Mutex.new
      end

      # @return [Integer]
      def size = @addresses.size

      # @return [String] without a password
      def name(index) = @addresses[index].to_s

      # @return [Boolean] whether any is in use
      def any_up? = @down.size < size || @down.any? { |_, till| till <= Clock.now }

      # Chooses the next replica for this fiber. A failed one stays skipped for all other fibers until it has answered.
      #
      # @return [Integer] its index
      def choose
        @mutex.synchronize do
          now = Clock.now
          all = Array.new(size) { |i| (@next + 1 + i) % size }
          @next = all.find { |index| (@down[index] || 0) <= now } || all.first
          @down[@next] = now + DOWN if @down.key?(@next)
          Thread.current[:pelton_database_replica] = @next # a fiber-local
        end
      end

      # Calls the block while this fiber connects to a certain replica.
      #
      # @param index [Integer]
      # @return the block's value
      def at(index)
        before, Thread.current[:pelton_database_replica] = Thread.current[:pelton_database_replica], index
        yield
      ensure
        Thread.current[:pelton_database_replica] = before
      end

      # @return [Hash] Sequel's options for the replica that this fiber has chosen
      def take = @addresses[(Thread.current[:pelton_database_replica] || choose) % size].options

      # @param index [Integer] of the replica that failed
      def failed(index) = @mutex.synchronize { @down[index] = Clock.now + DOWN }

      # @param index [Integer] of the replica that answered
      def answered(index)
        @mutex.synchronize { @down.delete(index) } if @down.key?(index)
      end

      # @return [Hash] Sequel's options for a database with these replicas
      def settings(pool:, sticky:)
        return {} if size.zero?
        {servers: {read_only: ->(_database) { take }}, server_sizes: {read_only: pool}, sticky: sticky, replicas: self}
      end
    end
  end
end
