# frozen_string_literal: true

require "digest"
require "ipaddr"
require_relative "../../error"

module Pelton
  module Web
    class RateLimit
      # Raised if a client makes too many requests.
      class Exceeded < RequestError
        status 429

        attr_reader :headers

        def initialize(requests, seconds)
          @headers = {"retry-after" => seconds.to_s}
          super("More than #{requests} requests in #{seconds} seconds.")
        end
      end

      # Raised if the store fails, with `failure: :refuse`.
      class Unavailable < RequestError
        status 503

        def initialize = super("Try again later.")

        # @return [Hash{String => String}] headers of the response: when to try again
        def headers = {"retry-after" => "1"}
      end

      # Counts requests by client, up to a limit.
      # @private
      class Count
        # @param failure [Symbol] if the store fails: :pass or :refuse
        def initialize(store, requests:, seconds:, name: "all", failure: :pass, timeout: 0.5)
          unless %i[pass refuse].include?(failure)
            raise ConfigurationError, "rate_limit: failure: must be :pass or :refuse, not #{failure.inspect}"
          end
          unless [requests, seconds].all? { |number| number.is_a?(Integer) && number.positive? }
            raise ConfigurationError, "rate_limit: the requests and the seconds must be whole numbers of 1 or more"
          end
          @store = store
          @requests, @seconds = requests, seconds
          @name = name
          @failure = failure
          @timeout = timeout
        end

        # Counts a request.
        #
        # @asynchronous if the store is memcached
        def add(client)
          key = "rate:#{Digest::SHA256.hexdigest("#{@name}\0#{@requests}/#{@seconds}\0#{client}")}"
          count = @store.incr(key, 1, initial: 1, ttl: @seconds, timeout: @timeout) || 1
          raise Exceeded.new(@requests, @seconds) if count > @requests
        rescue RequestError
          raise
        rescue Pelton::Error => error
          log(error)
          raise Unavailable if @failure == :refuse
        end

        # @return [String] the client's IPv4 address, or its IPv6 /64 network, which one client owns
        def self.address(env)
          address = env["REMOTE_ADDR"].to_s
          return address unless address.include?(":")
          IPAddr.new(address).then { |ip| ip.ipv4_mapped? ? ip.native.to_s : ip.mask(64).to_s }
        rescue IPAddr::Error
          address
        end

        private

        # At most once a second: while the store is down, each request would log a line.
        def log(error)
          second = Process.clock_gettime(Process::CLOCK_MONOTONIC, :second)
          return if @logged == second
          @logged = second
          Pelton.logger.error("rate limit: requests are #{(@failure == :pass) ? "not counted" : "refused"}: " \
            "#{error.class}: #{error.message}")
        end
      end
    end
  end
end
