# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/memcached_server"
require_relative "../with_processes"

class LabEmbeddedServerTest < PeltonTest
  include WithProcesses

  def test_it_serves_counts_and_says_that_it_is_not_the_real_one
    server = Pelton::Lab::MemcachedServer::Embedded.new(@processes, nil)
    TCPSocket.open(server.host, server.port) do |socket|
      socket.write("set k 0 0 1\r\nv\r\nget k\r\ndelete k\r\n")

      assert_equal ["STORED\r\n", "VALUE k 0 1\r\n", "v\r\n", "END\r\n", "DELETED\r\n"], Array.new(5) { socket.gets }
    end

    assert_equal({cmd_set: 1, get_hits: 1, get_misses: 0, delete_hits: 1, delete_misses: 0}, server.counters)
    assert_match(/Pelton's embedded memcached \d/, server.version)
    assert_match(/pelton memcached -p 0/, @processes.commands["pelton"])
  end
end
