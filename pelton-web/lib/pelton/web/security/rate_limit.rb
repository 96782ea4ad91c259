# frozen_string_literal: true

require_relative "rate_limit/count"
require_relative "rate_limit/memory"

module Pelton
  module Web
    # Counts requests per client and time, as {Controller::RateLimiting} declares. In memcached, all processes and machines count together, by
    # one command per request; otherwise each process counts separately.
    #
    # Seconds count from a client's first request. At the border of two periods a client can make up to twice as many requests.
    class RateLimit
    end

    class Settings
      # @!attribute rate_limit_store
      #   @return [Memcached::Client, RateLimit::Memory] the counters; by default each process counts separately
      setting(:rate_limit_store, ->(_) { RateLimit::Memory.new }) { |value| "must be a memcached client, or count as one" unless value.respond_to?(:incr) }
    end
  end
end
