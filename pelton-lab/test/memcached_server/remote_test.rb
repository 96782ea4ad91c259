# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "pelton/lab"
require "pelton/lab/memcached_server"
require_relative "../with_processes"

class LabRemoteServerTest < PeltonTest
  include WithProcesses

  def remote(address, **options)
    Pelton::Lab::MemcachedServer::Remote.new(@processes, nil, address, **options)
  end

  def test_it_is_used_as_it_is_and_not_counted
    server = remote("127.0.0.1:#{port = with_memcached}")

    assert_equal "127.0.0.1", server.host
    assert_equal port.to_s, server.port.to_s
    assert_nil server.counters
    assert_match(/\Amemcached \d+\.\d+.* at 127\.0\.0\.1:#{port}\z/, server.version)
    assert_empty @processes.commands
  end

  def test_to_be_stalled_it_stands_behind_a_proxy
    server = remote("127.0.0.1:#{with_memcached}", stalls: true)
    socket = TCPSocket.new(server.host, server.port)
    states = []
    server.define_singleton_method(:sleep) do |_seconds|
      socket.write("version\r\n")
      states << (socket.wait_readable(0.1) ? :answered : :silent)
    end
    server.stall(1)

    assert_equal [:silent], states
    assert_match(/\AVERSION/, socket.gets)
  end

  def test_a_server_that_does_not_answer_is_unavailable
    assert_match(/no memcached answers at 127\.0\.0\.1:#{port = free_port}/,
      assert_raises(Pelton::Lab::Unavailable) { remote("127.0.0.1:#{port}") }.message)
  end

  def test_another_format_of_the_address_is_refused
    ["cache", "cache:", ":", "cache:x"].each do |address|
      assert_raises(Pelton::Lab::UsageError, address) { remote(address) }
    end
  end
end
