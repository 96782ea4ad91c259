# frozen_string_literal: true

require "pelton/http"
require_relative "fragments/key"
require_relative "fragments/memory"
require_relative "fragments/memcached"
require_relative "fragments/single_flight"
require_relative "settings"

module Pelton
  module Web
    # Parts of pages that are kept, so that they are rendered and compressed once: {HTTP::Fragment}s by keys, in the memory of the
    # process or in memcached. An {HTTP::Page} puts them together.
    #
    #     FRAGMENTS = Pelton::Web::Fragments.new(limit: 64 << 20)
    #
    #     page << FRAGMENTS.fetch(["message", message.id, message.updated_at]) { render(message) }
    #
    # A key should change with what the fragment shows, and then no fragment is ever out of date: see {Key}. Old ones are dropped
    # when the memory is full, or after their `ttl`.
    class Fragments
      # The store of the applications that set none: 64 MB of this process.
      def self.default = @default ||= new

      # @return [Memory, Memcached] where the fragments are
      attr_reader :store

      # @param limit [Integer] bytes of all fragments in the memory of this process, with their keys; those that were not used for
      #   longest are dropped first. Ignored with `memcached:`
      # @param memcached [Pelton::Memcached::Client, nil] keeps the fragments there instead, so that processes and machines share them
      # @param ttl [Numeric, nil] seconds after which a fragment is rendered anew; nil: when its key changes
      # @param wait [Numeric] seconds for which a fiber waits for another one that renders the same fragment. Then it renders it, too
      # @param namespace [String] the beginning of the keys, for memcached
      def initialize(limit: 64 << 20, memcached: nil, ttl: nil, wait: 5, namespace: "fragment:")
        @store = memcached ? Memcached.new(memcached, namespace, wait) : Memory.new(limit)
        @flights = SingleFlight.new(wait)
        @ttl = ttl
      end

      # The fragment of a key. If it is missing, the block renders it; of all fibers of a thread that miss it at the same time, one
      # does so, and the others wait.
      #
      # @param key [Object] see {Key}
      # @param ttl [Numeric, nil] seconds
      # @yieldreturn [String, HTTP::Page, HTTP::Fragment] the text; a fragment is kept as it is, so a secret stays one
      # @raise the block's error; the fibers that wait get it, too
      # @raise [ArgumentError] the key says nothing
      # @asynchronous where the block waits, where another fiber renders it already, and with memcached. A memcached that fails
      #   counts as empty
      def fetch(key, ttl: @ttl, &block)
        raise ArgumentError, "fetch needs a block, which renders the fragment" unless block_given? # makes no Proc, unless the fragment is missing
        key = Key.of(key)
        @store.get(key) || render(key, ttl, block)
      end

      # The fragments of many keys, in their order. memcached is asked once for all of them. Missing ones are rendered one after the other.
      #
      # @yieldparam key [Object] one of the keys, whose fragment is missing
      # @yieldreturn [String, HTTP::Page, HTTP::Fragment]
      # @raise (see #fetch)
      # @asynchronous
      def fetch_multi(keys, ttl: @ttl, &block)
        raise ArgumentError, "fetch_multi needs a block, which renders a fragment" unless block
        names = keys.map { |key| Key.of(key) }
        found = @store.get_multi(names)
        names.each_with_index.map { |name, index| found[name] ||= render(name, ttl, -> { block.call(keys[index]) }) }
      end

      # Forgets a fragment.
      #
      # @return [Boolean] whether there was one
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
      #   @return [Fragments] where `cache` in templates keeps fragments; {Fragments.default} by default
      setting(:fragments, ->(_) { Fragments.default }) { |value| "must be a Pelton::Web::Fragments" unless value.is_a?(Fragments) }
    end
  end
end
