# frozen_string_literal: true

require_relative "rate_limit/count"
require_relative "rate_limit/memory"

module Pelton
  module Web
    # Counts requests per client and time, as {Controller::RateLimiting} declares. The workers of a server count
    # together, in memory that they share; machines do in memcached, by one command per request.
    #
    # Seconds count from a client's first request. At the border of two periods a client can make up to twice as many
    # requests.
    class RateLimit
    end

    class Settings
      # @!attribute rate_limit_store
      #   @return [Memcached::Client, RateLimit::Memory] the counters; by default those which the workers of this server
      #     share
      setting(:rate_limit_store, ->(_) { RateLimit::Memory.new }) do |value|
        "must be a memcached client, or count as one" unless value.respond_to?(:incr)
      end
    end
  end
end
