# frozen_string_literal: true

require_relative "../pelton"
require_relative "memcached/client"
