# frozen_string_literal: true

require "digest"
require "ipaddr"

module Pelton
  module Web
    # Middleware: each client may make so many requests in so many seconds; the next ones get 429. The requests are counted in memcached, so
    # all processes and machines count together, with one command a request.
    #
    #     use Pelton::Web::RateLimit, requests: 100, seconds: 60, memcached: Pelton::Memcached::Client.new("127.0.0.1:11211")
    #
    # A client is an IPv4 address or an IPv6 network of 64 bits, unless a block says otherwise. Seconds are counted from a client's first request. A
    # client that comes at the end of its time and again at the beginning of the next one makes twice as many requests at most.
    class RateLimit
      # @private
      def self.wrap(app, settings)
        return app unless settings.rate_limit
        options = settings.rate_limit
        new(app, **options.except(:client), &options[:client])
      end

      # @param app [#call]
      # @param requests [Integer]
      # @param seconds [Integer]
      # @param memcached [Memcached::Client]
      # @param name [String] limits with the same name count together
      # @param failure [Symbol] where memcached does not answer: :pass lets requests through and logs it, :refuse answers 503
      # @param timeout [Numeric] seconds that memcached has
      # @yieldparam env [Hash]
      # @yieldreturn [String, nil] whose request it is; nil: it is not counted
      # @raise [ConfigurationError] an option is wrong
      def initialize(app, requests:, seconds:, memcached:, name: "all", failure: :pass, timeout: 0.5, &client)
        raise ConfigurationError, "rate_limit: failure: must be :pass or :refuse, not #{failure.inspect}" unless %i[pass refuse].include?(failure)
        unless [requests, seconds].all? { |number| number.is_a?(Integer) && number.positive? }
          raise ConfigurationError, "rate_limit: requests: and seconds: must be whole numbers of 1 or more"
        end
        @app = app
        @requests, @seconds = requests, seconds
        @memcached = memcached
        @name = name
        @failure = failure
        @timeout = timeout
        @client = client || method(:address)
      end

      # @asynchronous memcached is asked
      def call(env)
        client = @client.call(env)
        count = client ? count(client) : 0
        return unavailable(env) unless count
        return @app.call(env) if count <= @requests
        detail = "More than #{@requests} requests in #{@seconds} seconds."
        Problem.new(429, detail: detail, headers: {"retry-after" => @seconds.to_s}).response(env)
      end

      private

      # The number of the client's requests; nil: they shall be refused.
      def count(client)
        key = "rate:#{Digest::SHA256.hexdigest("#{@name}\0#{@requests}/#{@seconds}\0#{client}")}"
        @memcached.incr(key, 1, initial: 1, ttl: @seconds, timeout: @timeout) || 1
      rescue Pelton::Error => error
        log(error)
        (@failure == :pass) ? 0 : nil
      end

      # Once a second at most: while memcached is down, this would be a line for each request.
      def log(error)
        second = Process.clock_gettime(Process::CLOCK_MONOTONIC, :second)
        return if @logged == second
        @logged = second
        Pelton.logger.error("rate limit: requests are #{(@failure == :pass) ? "not counted" : "refused"}: #{error.class}: #{error.message}")
      end

      def unavailable(env) = Problem.new(503, detail: "Try again later.", headers: {"retry-after" => "1"}).response(env)

      def address(env)
        address = env["REMOTE_ADDR"].to_s
        return address unless address.include?(":")
        IPAddr.new(address).then { |ip| ip.ipv4_mapped? ? ip.native.to_s : ip.mask(64).to_s }
      rescue IPAddr::Error
        address
      end
    end

    class Settings
      # @!attribute rate_limit
      #   @return [Hash, nil] the options of {RateLimit#initialize}, and as `client:` its block; nil, the default: no limit
      setting(:rate_limit) { |value| "must be a Hash or nil" unless value.nil? || value.is_a?(Hash) }
    end
  end
end
