# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"

class PublicAddressesTest < PeltonTest
  def public?(text) = Pelton::HTTP::PublicAddresses.call(IPAddr.new(text))

  def test_addresses
    %w[8.8.8.8 1.1.1.1 172.15.0.1 172.32.0.1 192.167.1.1 223.255.255.255 2606:4700::1111 2a00::1 ::ffff:8.8.8.8]
      .each { |text| assert public?(text), text }
    %w[0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1 198.18.0.1 224.0.0.1
      255.255.255.255
      :: ::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 64:ff9b::10.0.0.1 fe80::1 fc00::1 fd00::1 ff02::1 2001:db8::1
      2002:7f00:1::].each do |text|
        refute public?(text), text
      end
  end
end
