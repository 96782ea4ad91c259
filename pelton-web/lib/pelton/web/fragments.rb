# frozen_string_literal: true

require "pelton/http"
require_relative "fragments/key"
require_relative "fragments/memory"
require_relative "fragments/memcached"
require_relative "fragments/single_flight"
require_relative "settings"

module Pelton
  module Web
    # Keeps parts of pages rendered and compressed: {HTTP::Fragment}s by key, in the process's memory or in memcached.
    # An {HTTP::Page} joins them.
    #
    #     FRAGMENTS = Pelton::Web::Fragments.new(max_bytes: 64 << 20)
    #
    #     page << FRAGMENTS.fetch(["message", message.id, message.updated_at]) { render(message) }
    #
    # If the key changes with what the fragment shows, no fragment is ever out of date: see {Key}. Old ones are dropped
    # when the memory is full, or after their `ttl`.
    class Fragments
      # The default store: 64 MB of this process.
      def self.default = @default ||= new

      # @return [Memory, Memcached] the store
      attr_reader :store

      # @param max_bytes [Integer] bytes of all fragments and keys in this process's memory, beyond which the least
      #   recently used are dropped. 0: none is kept. Ignored with `memcached:`
      # @param memcached [Pelton::Memcached::Client, nil] stores fragments in memcached, shared by processes and
      #   machines
      # @param ttl [Numeric, nil] seconds after which a fragment is rendered again; nil: never, unless its key changes
      # @param wait [Numeric] seconds to wait for another fiber that renders the same fragment, before rendering it, too
      # @param namespace [String] prefix of memcached keys
      def initialize(max_bytes: 64 << 20, memcached: nil, ttl: nil, wait: 5, namespace: "fragment:")
        @store = memcached ? Memcached.new(memcached, namespace, wait) : Memory.new(max_bytes)
        @flights = SingleFlight.new(wait)
        @ttl = ttl
      end

      # Returns a key's fragment. If it is missing, the block renders it; if several fibers of a thread miss it at the
      # same time, one renders and the others wait.
      #
      # @param key [Object] see {Key}
      # @param ttl [Numeric, nil] seconds
      # @yieldreturn [String, HTTP::Page, HTTP::Fragment] the text; a fragment is kept unchanged, so a secret stays one
      # @raise the block's error, also in the fibers that wait
      # @raise [ArgumentError] if the key is nil or has no version
      # @asynchronous if the block waits, if another fiber renders the fragment, and with memcached; a failing memcached
      #   counts as empty
      def fetch(key, ttl: @ttl, &block)
        # Makes no Proc unless the fragment is missing
        raise ArgumentError, "fetch needs a block, which renders the fragment" unless block_given?
        key = Key.of(key)
        @store.get(key) || render(key, ttl, block)
      end

      # Returns the fragments of many keys, in order. Asks memcached once. Renders missing ones one after the other.
      #
      # @yieldparam key [Object] a key whose fragment is missing
      # @yieldreturn [String, HTTP::Page, HTTP::Fragment]
      # @raise (see #fetch)
      # @asynchronous
      def fetch_multi(keys, ttl: @ttl, &block)
        raise ArgumentError, "fetch_multi needs a block, which renders a fragment" unless block
        names = keys.map { |key| Key.of(key) }
        found = @store.get_multi(names)
        names.each_with_index.map { |name, index| found[name] ||= render(name, ttl, -> { block.call(keys[index]) }) }
      end

      # Deletes a fragment.
      #
      # @return [Boolean] whether it existed
      # @asynchronous with memcached
      def delete(key) = @store.delete(Key.of(key))

      private

      def render(key, ttl, block)
        @flights.run(key) { @store.fetch(key, ttl) { fragment_of(block.call) } }
      end

      def fragment_of(result)
        case result
        when HTTP::Fragment then result
        when HTTP::Page then HTTP::Fragment.new(result.text)
        else HTTP::Fragment.new(result)
        end
      end
    end

    class Settings
      # @!attribute fragments
      #   @return [Fragments] the store for `cache` in templates; by default {Fragments.default}
      setting(:fragments, ->(_) { Fragments.default }) do |value|
        "must be a Pelton::Web::Fragments" unless value.is_a?(Fragments)
      end
    end
  end
end
