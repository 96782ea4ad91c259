# frozen_string_literal: true

require_relative "rate_limit/count"
require_relative "rate_limit/memory"

module Pelton
  module Web
    # How many requests a client may make in so many seconds: {Controller::RateLimiting} declares it. Where they are counted in memcached, all processes and
    # machines count together, with one command a request; otherwise each process counts for itself.
    #
    # Seconds are counted from a client's first request. A client that comes at the end of its time and again at the beginning of the next one makes
    # twice as many requests at most.
    class RateLimit
    end

    class Settings
      # @!attribute rate_limit_store
      #   @return [Memcached::Client, RateLimit::Memory] where requests are counted; each process counts for itself by default
      setting(:rate_limit_store, ->(_) { RateLimit::Memory.new }) { |value| "must be a memcached client, or count as one" unless value.respond_to?(:incr) }
    end
  end
end
