# frozen_string_literal: true

module Pelton
  module Memcached
    # Values that are changed by a block, and by nobody else meanwhile.
    module Update
      # Stores what the block makes of the value, if nobody has stored another one since; otherwise tries again with that.
      #
      # @param key [String, Symbol]
      # @param ttl [Numeric, nil] seconds
      # @param flags [Integer, nil] as {Client#set} takes them
      # @param raw [Boolean] as {Client#get} and {Client#set} take it
      # @param attempts [Integer] how often the block is called at most
      # @param timeout [Numeric, nil] seconds for each of the commands that it needs
      # @return [Boolean, nil] true: stored; false: others were faster each time; nil: the block returned nil, and nothing
      #   was stored
      # @yieldparam old the value; nil when the key is absent
      # @yieldreturn the new one
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
