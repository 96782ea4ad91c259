# frozen_string_literal: true

require "pelton/memcached"
require_relative "memcache_transport"

module EventMachine
  module Protocols
    # A client of memcached. All requests of one loop iteration are sent in one write.
    #
    #     EM.run do
    #       cache = EM::P::Memcache.connect("localhost", 11211)
    #       cache.set(:a, "hello") { p :stored }
    #       cache.get(:a) { |value| p value }
    #       cache.get(:a, :b) { |a, b| p [a, b] }
    #       cache.get_hash(:a, :b) { |values| p values }
    #       cache.del(:a)
    #     end
    #
    # It is a Deferrable that succeeds when it is connected. If the first attempt to connect fails, an error ends the
    # loop. A connection that is lost later is made again every second, and pending requests are sent again.
    #
    # A reply that is an error counts as an absent value, or as not stored. So does a key that is not valid for
    # memcached, such as one with a space.
    module Memcache
      include Deferrable

      # Seconds until the next attempt to connect.
      RECONNECT = 1
      # In seconds; memcached takes a larger number for a date.
      THIRTY_DAYS = 60 * 60 * 24 * 30
      # There is no practical limit: a program may have as many pending requests as it has memory for.
      NO_LIMIT = 1 << 40
      private_constant :RECONNECT, :THIRTY_DAYS, :NO_LIMIT

      # Raised if the server's reply cannot be read.
      class ParserError < StandardError
      end

      # @param host [String] a name or an address
      # @param port [Integer]
      # @return [Connection]
      # @raise [RuntimeError] outside run
      def self.connect(host = "localhost", port = 11211)
        raise "eventmachine not initialized: evma_connect_to_server" unless EventMachine.reactor_running?
        type = EventMachine.klass_from_handler(Connection, self, host, port)
        type.new(MemcacheTransport.new.signature, host, port)
      end

      # Gets the values of keys. The block is called with one argument for each key; nil stands for an absent value.
      #
      # @raise [ArgumentError] without a block
      # @return [self]
      def get(*keys, &block)
        raise ArgumentError, "get needs a block" unless block
        return mc_get_all(keys) { |values| block.call(*values) } unless keys.size == 1
        mc_ask(:get, keys.first, nil, nil, block)
        self
      end

      # Gets the values of keys, as a Hash.
      #
      # @return [self]
      def get_hash(*keys, &block)
        raise ArgumentError, "get_hash needs a block" unless block
        mc_get_all(keys) { |values| block.call(keys.zip(values).to_h) }
      end

      # Sets a value. The block is called with whether it was stored.
      #
      # @param value [#to_s]
      # @param exptime [Integer] seconds; 0: never; more than 30 days: a date, in seconds since 1970
      # @return [self]
      def set(key, value, exptime = 0, &block)
        mc_ask(:set, key, value.to_s, exptime, block)
        self
      end

      # Deletes a value. The block is called with whether there was one.
      #
      # @return [self]
      def delete(key, _expires = 0, &block)
        mc_ask(:delete, key, nil, nil, block)
        self
      end
      alias_method :del, :delete

      # @private
      def initialize(host, port = 11211)
        super()
        @mc_server = host.include?(":") ? "[#{host}]:#{port}" : "#{host}:#{port}"
        @mc_waiting = []
        @mc_connected = false
        mc_begin
      end

      # @private
      def unbind(*) = mc_end

      private

      def mc_begin
        @mc_client = ::Pelton::Memcached::Client.new(@mc_server, timeout: nil, connect_timeout: 5,
          max_operations: NO_LIMIT, max_bytes: NO_LIMIT)
        @mc_later = @mc_client.later
        @mc_later.version.callback { mc_connected }.errback { |error| mc_not_connected(error) }
      end

      def mc_end
        client, @mc_client = @mc_client, nil
        @mc_waiting.clear
        client&.close
      end

      def mc_connected
        return if @mc_connected
        @mc_connected = true
        mc_call(->(_) { succeed }, nil)
      end

      def mc_not_connected(error)
        return if @mc_client.nil? || @mc_connected || error.is_a?(::Pelton::Memcached::ServerError)
        mc_call(->(_) { set_deferred_failure(error).then { raise "Unable to connect to memcached server" } }, nil)
      end

      def mc_get_all(keys)
        values = Array.new(keys.size)
        left = keys.size
        EventMachine.next_tick { yield values } if left.zero?
        keys.each_with_index do |key, index|
          mc_ask(:get, key, nil, nil, lambda do |value|
            values[index] = value
            yield values if (left -= 1).zero?
          end)
        end
        self
      end

      def mc_ask(command, key, value, exptime, block)
        mc_begin unless @mc_client
        return @mc_waiting << [command, key, value, exptime, block] unless @mc_waiting.empty? # keeps the order
        key = key.to_s unless key.is_a?(Symbol)
        answer =
          if command == :get then @mc_client.get(key) { |found| mc_call(block, found) }
          elsif !block then mc_send(command, key, value, exptime)
          elsif command == :delete then @mc_client.delete(key) { |deleted| mc_call(block, deleted) }
          elsif exptime == 0 then @mc_client.set(key, value) { |stored| mc_call(block, stored) }
          else @mc_client.set(key, value, ttl: mc_ttl(exptime)) { |stored| mc_call(block, stored) }
          end
        answer.errback { |error| mc_failed(error, command, key, value, exptime, block) }
      rescue ::Pelton::Memcached::InvalidKeyError
        EventMachine.next_tick { mc_call(block, (command == :get) ? nil : false) } if block
      end

      def mc_send(command, key, value, exptime)
        (command == :set) ? @mc_later.set(key, value, ttl: mc_ttl(exptime)) : @mc_later.delete(key)
      end

      def mc_ttl(exptime)
        return exptime if exptime <= THIRTY_DAYS
        [exptime - Time.now.to_i, 0].max.nonzero? || -1
      end

      def mc_failed(error, *request)
        return unless @mc_client
        return mc_wait(request) if error.is_a?(::Pelton::ConnectionError)
        block = request.last
        mc_call(block, (request.first == :get) ? nil : false) if block
      end

      def mc_wait(request)
        EventMachine.add_timer(RECONNECT) { mc_again } if @mc_waiting.empty?
        @mc_waiting << request
      end

      def mc_again
        requests, @mc_waiting = @mc_waiting, []
        requests.each { |request| mc_ask(*request) }
      end

      # An error of a block is handled like an error of any callback.
      def mc_call(block, result)
        block.call(result)
      rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
        EventMachine._failed(error, block)
      end
    end
  end
end
