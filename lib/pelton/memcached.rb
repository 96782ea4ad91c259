# frozen_string_literal: true

require_relative "../pelton"
require_relative "memcached/address"
require_relative "memcached/hash_ring"
require_relative "memcached/value"
require_relative "memcached/client"
require_relative "memcached/server"
