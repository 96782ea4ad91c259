# frozen_string_literal: true

require "ipaddr"

module Pelton
  module HTTP
    # The addresses that a client with `allow: :public` connects to: those of the Internet, without private networks,
    # this machine, and what else is reserved.
    #
    # @see https://www.iana.org/assignments/iana-ipv4-special-registry and
    #   https://www.iana.org/assignments/iana-ipv6-special-registry
    # @private
    module PublicAddresses
      OTHERS = %w[0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
        192.88.99.0/24 192.168.0.0/16 198.18.0.0/15
        198.51.100.0/24 203.0.113.0/24 224.0.0.0/3].map { |range| IPAddr.new(range) }.freeze
      GLOBAL = IPAddr.new("2000::/3")
      # Of the global ones, those that lead to IPv4 addresses or are for documents.
      LOCAL = %w[2001::/23 2001:db8::/32 2002::/16 3fff::/20].map { |range| IPAddr.new(range) }.freeze
      private_constant :OTHERS, :GLOBAL, :LOCAL

      # @param address [IPAddr]
      # @return [Boolean]
      def self.call(address)
        address = address.native # ::ffff:10.0.0.1 is 10.0.0.1
        return OTHERS.none? { |range| range.include?(address) } if address.ipv4?
        GLOBAL.include?(address) && LOCAL.none? { |range| range.include?(address) }
      end
    end
  end
end
