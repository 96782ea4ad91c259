# frozen_string_literal: true

module Pelton
  module Memcached
    # A value and what else the server knows of it: {Client#item}.
    #
    # @!attribute value
    # @!attribute flags
    #   @return [Integer] 32 bits that were stored with it
    # @!attribute cas
    #   @return [Integer] for `cas:` of {Client#set} and {Client#delete}
    # @!attribute ttl
    #   @return [Integer, nil] the seconds it has left; nil: no end
    # @!attribute won
    #   @return [Boolean] with `recache:`: this caller is the one who shall make it anew
    Item = Struct.new(:value, :flags, :cas, :ttl, :won) do
      def initialize(value, flags, cas, ttl, won = false)
        super(value, flags, cas, (ttl unless ttl.negative?), won)
      end
    end
  end
end
