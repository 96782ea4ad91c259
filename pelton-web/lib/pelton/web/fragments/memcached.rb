# frozen_string_literal: true

require "digest"
require "pelton/memcached"

module Pelton
  module Web
    class Fragments
      # Fragments in memcached. Of all processes that miss a fragment at the same time, one renders it (see
      # {Memcached::Fetch}). A memcached that cannot be reached counts as empty.
      class Memcached
        LONGEST = 200 # bytes; longer keys are digested
        FAILURES = [ConnectionError, TimeoutError, Pelton::Memcached::ServerError, Pelton::Memcached::ValueError,
          OverloadError].freeze
        private_constant :LONGEST, :FAILURES

        # @param client [Pelton::Memcached::Client] without `serializer:` and `compress:`, since fragments are
        #   compressed already
        # @param wait [Numeric] seconds that other processes wait for the one that renders
        def initialize(client, namespace, wait)
          @client = client
          @namespace = namespace
          @wait = wait
        end

        # @asynchronous
        def get(key) = get_multi([key])[key]

        # @return [Hash{String => HTTP::Fragment}] without the missing ones
        # @asynchronous
        def get_multi(keys)
          found = @client.get_multi(keys.map { |key| name(key) }, partial: true)
          keys.to_h { |key| [key, found[name(key)]&.then { |bytes| HTTP::Fragment.load(bytes) }] }.compact
        rescue *FAILURES
          {}
        end

        # Stores and returns the block's fragment.
        #
        # @asynchronous
        def fetch(key, ttl)
          fragment = nil
          bytes = @client.fetch(name(key), ttl: ttl, wait: @wait) do
            fragment = yield
            fragment.dump
          end
          fragment || HTTP::Fragment.load(bytes) || yield.tap { |anew| replace(key, anew, ttl) }
        end

        # @return [Boolean] whether it existed
        # @asynchronous
        def delete(key) = @client.delete(name(key))

        private

        # Replaces a value that was not a fragment of this version of Pelton.
        def replace(key, fragment, ttl)
          @client.set(name(key), fragment.dump, ttl: ttl)
        rescue *FAILURES
          nil
        end

        def name(key)
          return @namespace + key if key.bytesize <= LONGEST && key.b.match?(/\A[!-~]+\z/)
          "#{@namespace}[#{Digest::SHA256.hexdigest(key)}" # no other key has this prefix and length
        end
      end
    end
  end
end
