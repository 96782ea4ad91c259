# frozen_string_literal: true

module Pelton
  module Memcached
    # Values that a block changes, without overwriting another client's change.
    module Update
      # Gets the value and stores the block's result, unless somebody has stored another value meanwhile. Then it tries
      # again with that value.
      #
      # @param key [String, Symbol]
      # @param ttl [Numeric, nil] seconds
      # @param flags [Integer, nil] as {Client#set} takes them
      # @param raw [Boolean] as {Client#get} and {Client#set} take it
      # @param attempts [Integer] the number of tries
      # @param timeout [Numeric, nil] seconds for each command that it sends, not for the block
      # @return [Boolean, nil] true: stored; false: other clients were faster each time; nil: the block returned nil,
      #   and nothing was stored
      # @yieldparam old the value; nil when the key is absent
      # @yieldreturn the new value
      # @raise [ConnectionError, TimeoutError, ServerError]
      # @asynchronous
      def cas(key, ttl: nil, flags: nil, raw: false, attempts: 10, timeout: nil)
        raise ArgumentError, "cas needs a block" unless block_given?
        options = {ttl: ttl, flags: flags, raw: raw, timeout: timeout}.compact
        attempts.times do
          old, unique = gets(key, raw: raw, timeout: timeout)
          new = yield old
          return if new.nil?
          return true if unique ? set(key, new, cas: unique, **options) : add(key, new, **options)
        end
        false
      end
    end
  end
end
