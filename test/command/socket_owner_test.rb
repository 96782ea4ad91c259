# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../test_helper"
require "pelton/error"
require "pelton/command/socket_owner"

class CommandSocketOwnerTest < PeltonTest
  Owner = Pelton::Command::SocketOwner

  def setup
    skip "there is no /proc" unless File.exist?("/proc/net/tcp")
  end

  def test_who_listens
    Dir.mktmpdir do |dir|
      servers = [TCPServer.new("127.0.0.1", 0), UNIXServer.new("#{dir}/s")]
      client = TCPSocket.new("127.0.0.1", servers.first.local_address.ip_port)
      own = /\Aprocess #{Process.pid} \(.+\)\z/

      assert_match own, Owner.of("tcp://127.0.0.1:#{servers.first.local_address.ip_port}")
      assert_match own, Owner.of("unix://#{dir}/s")
      assert_nil Owner.of("tcp://127.0.0.1:#{client.local_address.ip_port}"), "a client listens nowhere"
      assert_nil Owner.of("unix://#{dir}/other")
    ensure
      [*servers, client].compact.each(&:close)
    end
  end
end
