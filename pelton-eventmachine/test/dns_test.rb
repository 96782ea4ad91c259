# frozen_string_literal: true

require_relative "helper"

class EventMachineDNSTest < EventMachineTest
  Resolver = EM::DNS::Resolver

  def test_name_servers_are_the_systems_until_others_are_set
    assert_kind_of Array, Resolver.nameservers
    Resolver.nameservers = ["192.0.2.1"]

    assert_equal "192.0.2.1", Resolver.nameserver
  ensure
    Resolver.nameservers = nil
  end

  def test_hosts_come_from_etc_hosts
    assert_includes Resolver.hosts.fetch("localhost"), "127.0.0.1"
    refute_includes Resolver.hosts, nil
  end

  def test_a_host_of_etc_hosts_needs_no_name_server
    Resolver.nameservers = []
    addresses = nil
    em { Resolver.resolve("LocalHost").callback { |found| EM.stop.then { addresses = found } } }

    assert_equal Resolver.hosts["localhost"], addresses
  ensure
    Resolver.nameservers = nil
  end

  def test_a_name_with_a_dot_is_tried_as_it_is
    assert_equal ["example.com"], Resolver.names("example.com")
    assert_equal "example", Resolver.names("example").last
  end

  def test_an_invalid_name_is_refused
    assert_raises(ArgumentError) { Resolver.resolve(123) }
    assert_raises(ArgumentError) { Resolver.resolve(nil) }
  end
end
