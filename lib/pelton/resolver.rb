# frozen_string_literal: true

require "socket"
module Pelton
  module Resolver
    def self.resolve(host, port, timeout: 10) = Addrinfo.getaddrinfo(host, port, nil, :STREAM)
  end
end
