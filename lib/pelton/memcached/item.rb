# frozen_string_literal: true

module Pelton
  module Memcached
    # A value with its flags, cas number and remaining ttl: {Client#item}.
    #
    # @!attribute value
    # @!attribute flags
    #   @return [Integer] 32 bits that were stored with the value
    # @!attribute cas
    #   @return [Integer] for `cas:` of {Client#set} and {Client#delete}
    # @!attribute ttl
    #   @return [Integer, nil] seconds until the item expires; nil: it never does
    # @!attribute won
    #   @return [Boolean] with `recache:`, whether this caller should compute the value again
    Item = Struct.new(:value, :flags, :cas, :ttl, :won) do
      def initialize(value, flags, cas, ttl, won = false)
        super(value, flags, cas, (ttl unless ttl.negative?), won)
      end
    end
  end
end
