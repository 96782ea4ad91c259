# frozen_string_literal: true

require_relative "rate_limit/count"
require_relative "rate_limit/memory"

module Pelton
  module Web
    # Middleware: each client may make so many requests in so many seconds; the next ones get 429. Where the requests are counted in memcached,
    # all processes and machines count together, with one command a request; otherwise each process counts for itself.
    #
    #     use Pelton::Web::RateLimit, requests: 100, seconds: 60, memcached: Pelton::Memcached::Client.new("127.0.0.1:11211")
    #
    # A client is an IPv4 address or an IPv6 network of 64 bits, unless a block says otherwise. Seconds are counted from a client's first request. A
    # client that comes at the end of its time and again at the beginning of the next one makes twice as many requests at most.
    #
    # Limits of single actions are {Controller::RateLimiting}'s.
    class RateLimit
      # @private
      def self.wrap(app, settings)
        return app unless settings.rate_limit
        options = {memcached: settings.rate_limit_store}.merge(settings.rate_limit)
        new(app, **options.except(:client), &options[:client])
      end

      # @param app [#call]
      # @param requests [Integer]
      # @param seconds [Integer]
      # @param memcached [Memcached::Client, Memory]
      # @param name [String] limits with the same name count together
      # @param failure [Symbol] where memcached does not answer: :pass lets requests through and logs it, :refuse answers 503
      # @param timeout [Numeric] seconds that memcached has
      # @yieldparam env [Hash]
      # @yieldreturn [String, nil] whose request it is; nil: it is not counted
      # @raise [ConfigurationError] an option is wrong
      def initialize(app, requests:, seconds:, memcached: Memory.new, **options, &client)
        @app = app
        @count = Count.new(memcached, requests: requests, seconds: seconds, **options)
        @client = client || Count.method(:address)
      end

      # @asynchronous memcached is asked
      def call(env)
        begin
          client = @client.call(env)
          @count.add(client) if client
        rescue Exceeded, Unavailable => error
          return Problem.of(error).response(env)
        end
        @app.call(env)
      end
    end

    class Settings
      # @!attribute rate_limit
      #   @return [Hash, nil] the options of {RateLimit#initialize}, and as `client:` its block; nil, the default: no limit
      setting(:rate_limit) { |value| "must be a Hash or nil" unless value.nil? || value.is_a?(Hash) }

      # @!attribute rate_limit_store
      #   @return [Memcached::Client, RateLimit::Memory] where requests are counted, for the limits of actions as well; each process counts for
      #     itself by default
      setting(:rate_limit_store, ->(_) { RateLimit::Memory.new }) { |value| "must be a memcached client, or count as one" unless value.respond_to?(:incr) }
    end
  end
end
