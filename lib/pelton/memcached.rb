# frozen_string_literal: true

require_relative "../pelton"
require_relative "memcached/client"
require_relative "memcached/server"
