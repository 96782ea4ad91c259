# frozen_string_literal: true

module Pelton
  module Web
    class Fragments
      # Fragments in the process's memory, within a limit. Beyond it the oldest are dropped; one that was used since it
      # was last considered is spared once. Threads may share it.
      class Memory
        include Opaque

        Entry = Struct.new(:fragment, :expires, :memory, :used) do
          def live? = !expires || Clock.now < expires
        end
        private_constant :Entry

        ENTRY = 300 # approximate bytes of an entry besides its key and fragment
        private_constant :ENTRY

        # @return [Integer] approximate bytes of all fragments and keys
        attr_reader :memory

        # @return [Integer] number of fragments that were dropped for lack of memory
        attr_reader :evictions

        # @param max_bytes [Integer] bytes; 0: keeps nothing
        def initialize(max_bytes)
          unless max_bytes.is_a?(Integer) && !max_bytes.negative?
            raise ArgumentError, "max_bytes: is the number of bytes for fragments, 0 or more"
          end
          @max_bytes = max_bytes
          @entries = {}
          @mutex = Mutex.new
          @memory = @evictions = 0
        end

        # @param key [String]
        # @return [Object, nil] the fragment; nil: there is none, or it has expired
        def get(key)
          entry = @entries[key]
          return unless entry&.live?
          entry.used = true
          entry.fragment
        end

        # @return [Hash{String => HTTP::Fragment}] without the missing ones
        def get_multi(keys) = keys.to_h { |key| [key, get(key)] }.compact

        # Stores and returns the block's fragment. A fragment of more than an eighth of the limit is not kept: it would
        # displace too many others.
        def fetch(key, ttl)
          yield.tap { |fragment| set(key, fragment, ttl) }
        end

        # @return [Boolean] whether it existed
        def delete(key) = @mutex.synchronize { !!remove(key) }

        # @return [Integer] the number of fragments
        def size = @entries.size

        private

        def set(key, fragment, ttl)
          memory = fragment.memory + key.bytesize + ENTRY
          @mutex.synchronize do
            remove(key)
            next if memory > @max_bytes / 8
            @entries[key] = Entry.new(fragment, ttl && Clock.now + ttl, memory, false)
            @memory += memory
            evict while @memory > @max_bytes
          end
        end

        def remove(key)
          entry = @entries.delete(key)
          @memory -= entry.memory if entry
          entry
        end

        def evict
          key, entry = @entries.first
          remove(key)
          if entry.used && entry.live?
            entry.used = false
            @entries[key] = entry
            @memory += entry.memory
          else
            @evictions += 1
          end
        end
      end
    end
  end
end
