# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/memcached_server"

# The embedded server's addresses: UNIX sockets, several hosts, ports in use.
class MemcachedServerAddressTest < PeltonTest
  include MemcachedServer

  def test_several_addresses
    with_server(host: ["127.0.0.1", "127.0.0.2"]) do |server|
      client_of(server).set("key", "value")

      assert_equal "value", Client.new("127.0.0.2:#{server.port}", timeout: 20).get("key")
    end
  end

  def test_a_port_in_use_raises_and_leaves_nothing_running
    with_server do |server|
      other = Server.new(port: server.port)

      assert_raises(Pelton::ConnectionError) { other.start }
      refute_predicate other, :running?
      assert_equal server.port, server.port
    end
  end

  def with_unix_socket
    Dir.mktmpdir { |folder| yield File.join(folder, "memcached.sock") }
  end

  def test_a_unix_socket
    with_unix_socket do |path|
      with_server(path: path) do |server|
        client = Client.new(path, timeout: 20)

        assert_nil server.port
        assert_equal "700", (File.stat(path).mode & 0o777).to_s(8)
        assert client.set("key", "value")
        assert_equal "value", client.get("key")
        server.stop
      end

      refute_path_exists path
    end
  end

  def test_a_unix_sockets_mode_and_a_stale_socket
    with_unix_socket do |path|
      UNIXServer.new(path).close
      before = File.umask
      with_server(path: path, mode: 0o666) do |server|
        assert_equal "666", (File.stat(path).mode & 0o777).to_s(8)
        assert_equal before, File.umask
        assert_equal [path], server.addresses
      end
    end
  end

  def test_a_unix_socket_of_another_server_is_not_removed
    with_unix_socket do |path|
      with_server(path: path) do |server|
        Process.wait(fork { server.stop && exit!(1) || exit!(0) })

        assert_equal 0, $?.exitstatus
        assert_path_exists path
        File.unlink(path)
        UNIXServer.open(path) do
          server.stop

          assert_path_exists path
        end
      end
    end
  end
end
