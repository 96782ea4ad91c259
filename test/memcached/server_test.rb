# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"
require "socket"
require "tmpdir"

class EmbeddedServerTest < PeltonTest
  Server = Pelton::Memcached::Server
  Client = Pelton::Memcached::Client

  def test_it_serves_clients_of_the_same_reactor
    Pelton.run do
      server = Server.new.start
      client = Client.new("127.0.0.1:#{server.port}", timeout: 20)

      assert client.set("key", "value")
      assert_equal "value", client.get("key")
      assert_nil client.get("other")
      assert client.delete("key")
      server.stop
    end
  end

  def test_large_values
    value = Random.new(1).bytes(900_000)
    with_server do |server|
      client = Client.new("127.0.0.1:#{server.port}", timeout: 20)

      assert client.set("key", value)
      assert_equal value, client.get("key")
      assert_raises(Pelton::Memcached::ServerError) { client.set("key", value + value) }
      assert_nil client.get("key")
    end
  end

  def test_it_is_found_beside_anything_else_of_the_reactor
    with_server do |server|
      order = Array.new(10) do |number|
        Pelton.spawn do
          client = Client.new("127.0.0.1:#{server.port}", timeout: 20)
          20.times { |time| client.set("#{number}-#{time}", "x" * time) }
          20.times.all? { |time| client.get("#{number}-#{time}") == "x" * time }
        end
      end

      assert order.all?(&:await)
      assert_equal 200, server.stats[:curr_items]
    end
  end

  def test_a_blocking_client_of_another_thread
    with_server do |server|
      answer = Thread.new do
        TCPSocket.open("127.0.0.1", server.port) do |socket|
          socket.write("set a 0 0 3\r\none\r\nget a\r\nquit\r\n")
          socket.read
        end
      end

      assert_equal "STORED\r\nVALUE a 0 3\r\none\r\nEND\r\n", answer.value
    end
  end

  def test_stats_are_those_of_memcached
    with_server(memory: 8 << 20, max_connections: 7) do |server|
      client = Client.new("127.0.0.1:#{server.port}", timeout: 20)
      client.set("key", "value")
      2.times { client.get("key") }
      client.get("other")
      stats = server.stats

      assert_equal({get_hits: 2, get_misses: 1, cmd_get: 3, cmd_set: 1, curr_items: 1, curr_connections: 1},
        stats.slice(:get_hits, :get_misses, :cmd_get, :cmd_set, :curr_items, :curr_connections))
      assert_equal [8 << 20, 7], stats.values_at(:limit_maxbytes, :max_connections)
    end
  end

  def test_memory_has_a_limit
    with_server(memory: 2 << 20) do |server|
      client = Client.new("127.0.0.1:#{server.port}", timeout: 20)
      4000.times { |number| client.set("key#{number}", "x" * 1000) }

      assert_operator server.stats[:bytes], :<=, 2 << 20
      assert_operator server.stats[:evictions], :>, 0
      assert_nil client.get("key0")
      assert_equal "x" * 1000, client.get("key3999")
    end
  end

  # Values of all sizes, those that are copied and those that are sent from where they lie.
  def test_where_memory_is_short_values_are_right_or_absent
    with_server(memory: 2 << 20) do |server|
      tasks = Array.new(10) { |number| Pelton.spawn { busy_client(server, Random.new(number)) } }

      assert_operator tasks.sum(&:await), :>, 0
      assert_operator server.stats[:evictions], :>, 0
      assert_operator server.stats[:bytes], :<=, 2 << 20
    end
  end

  def test_values_have_a_limit
    with_server(value_limit: 2000) do |server|
      client = Client.new("127.0.0.1:#{server.port}", timeout: 20)

      assert client.set("key", "x" * 1900)
      error = assert_raises(Pelton::Memcached::ServerError) { client.set("key", "x" * 2000) }
      assert_match(/too large/, error.message)
    end
  end

  def test_connections_have_a_limit
    with_server(max_connections: 2) do |server|
      sockets = Array.new(3) { Pelton.connect("127.0.0.1", server.port) }

      assert_equal "ERROR Too many open connections\r\n", sockets[2].gets
      sockets[0].write("mn\r\n")
      assert_equal "MN\r\n", sockets[0].gets
    end
  end

  def test_a_unix_socket
    Dir.mktmpdir do |folder|
      path = File.join(folder, "memcached.sock")
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

  def test_a_unix_socket_for_others_and_one_that_was_left_behind
    Dir.mktmpdir do |folder|
      path = File.join(folder, "memcached.sock")
      UNIXServer.new(path).close
      before = File.umask
      with_server(path: path, mode: 0o666) do |server|
        assert_equal "666", (File.stat(path).mode & 0o777).to_s(8)
        assert_equal before, File.umask
        assert_equal [path], server.addresses
      end
    end
  end

  def test_a_unix_socket_of_another_is_left_alone
    Dir.mktmpdir do |folder|
      path = File.join(folder, "memcached.sock")
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

  def test_several_addresses
    with_server(host: ["127.0.0.1", "127.0.0.2"]) do |server|
      Client.new("127.0.0.1:#{server.port}", timeout: 20).set("key", "value")

      assert_equal "value", Client.new("127.0.0.2:#{server.port}", timeout: 20).get("key")
    end
  end

  def test_a_stop_closes_everything_and_a_start_begins_anew
    with_server do |server|
      port = server.port
      stream = Pelton.connect("127.0.0.1", port)
      Client.new("127.0.0.1:#{port}", timeout: 20).set("key", "value")
      server.stop

      assert_nil stream.gets
      refute_predicate server, :running?
      assert_nil server.port
      assert_raises(Pelton::ConnectionError) { Pelton.connect("127.0.0.1", port) }
      assert_raises(Pelton::ClosedError) { server.stats }
      server.stop
      server.start
      assert_nil Client.new("127.0.0.1:#{server.port}", timeout: 20).get("key")
    end
  end

  def test_the_reactor_stops_it
    server = nil
    Pelton.run do
      server = Server.new.start
      Pelton.next_tick { Pelton.stop }
    end

    refute_predicate server, :running?
  end

  def test_an_open_server_keeps_the_reactor_running
    server = nil
    Pelton.run do
      server = Server.new.start
      Thread.new do
        TCPSocket.open("127.0.0.1", server.port) { |socket| socket.write("mn\r\n") && socket.gets }
      ensure
        server.instance_variable_set(:@answered, true)
      end
      Pelton.add_timer(0.01) { stop_when_answered(server) }
    end

    assert server.instance_variable_get(:@answered)
  end

  def test_run_runs_a_reactor_of_its_own
    port = nil
    server = Server.new
    server.run { |running| port = running.port && server.stop }

    assert_nil port
    refute_predicate server, :running?
  end

  def test_a_taken_port_is_told_and_leaves_nothing_behind
    with_server do |server|
      other = Server.new(port: server.port)

      assert_raises(Pelton::ConnectionError) { other.start }
      refute_predicate other, :running?
      assert_equal server.port, server.port
    end
  end

  def test_it_starts_once
    with_server { |server| assert_raises(Pelton::Error) { server.start } }
  end

  def test_without_a_reactor_it_runs_in_a_thread_of_its_own
    server = Server.start(memory: 8 << 20)
    cache = Client.new(*server.addresses, timeout: 20)

    assert cache.set("key", "value")
    assert_equal "value", cache.get("key")
    assert_equal 1, server.stats[:curr_items]
    assert_raises(Pelton::Error) { server.start }
    server.stop
    refute_predicate server, :running?
    assert_raises(Pelton::ClosedError) { server.stats }
    server.start
    assert_equal 0, server.stats[:curr_items]
  ensure
    server&.stop
  end

  def test_start_with_a_block_stops_it_at_its_end
    seen = nil
    value = Server.start do |server|
      seen = server
      Client.new(*server.addresses, timeout: 20).set("key", "value")
    end

    assert value
    refute_predicate seen, :running?
  end

  def test_what_keeps_a_thread_from_starting_it_is_told
    Server.start do |server|
      error = assert_raises(Pelton::ConnectionError) { Server.start(port: server.port) }

      assert_match(/in use/, error.message)
    end
  end

  def test_any_thread_may_ask_and_stop_it
    Pelton.run do
      server = Server.new.start
      stats = Thread.new { server.stats }.value
      Thread.new { server.stop }.join

      assert_equal 0, stats[:curr_items]
      refute_predicate server, :running?
    end
  end

  def test_what_was_asked_before_a_stop_is_answered
    Pelton.run do
      server = Server.new.start
      TCPSocket.open("127.0.0.1", server.port) do |socket|
        socket.write("set key 0 0 5\r\nvalue\r\n" + "get key\r\n" * 1000)
        server.stop

        assert_equal "STORED\r\n" + "VALUE key 0 5\r\nvalue\r\nEND\r\n" * 1000, socket.read
      end
    end
  end

  def test_several_servers_have_nothing_in_common
    Pelton.run do
      servers = Array.new(3) { Server.new.start }
      clients = servers.map { |server| Client.new(*server.addresses, timeout: 20) }
      clients.each_with_index { |client, index| client.set("key", index.to_s) }

      assert_equal %w[0 1 2], clients.map { |client| client.get("key") }
      servers[1].stop
      assert_equal "2", clients[2].get("key")
      assert_equal [1, 1], servers.values_at(0, 2).map { |server| server.stats[:curr_items] }
    ensure
      servers&.each(&:stop)
    end
  end

  def test_large_items_where_they_are_allowed
    value = Random.new(2).bytes(6_000_000)
    with_server(value_limit: 8 << 20) do |server|
      client = Client.new("127.0.0.1:#{server.port}", timeout: 10)

      assert client.set("key", value)
      assert_equal value, client.get("key")
      refute_nil client.get("key")
    end
  end

  def test_a_silent_client_is_sent_away_where_that_is_asked_for
    with_server(idle_timeout: 1) do |server|
      assert_nil Pelton.connect("127.0.0.1", server.port).gets(timeout: 20)
      assert_equal 1, server.stats[:idle_kicks]
    end
  end

  def test_arguments_are_checked
    assert_raises(ArgumentError) { Server.new(memory: 1000) }
    assert_raises(ArgumentError) { Server.new(max_connections: 0) }
    assert_raises(ArgumentError) { Server.new(idle_timeout: -1) }
    assert_raises(ArgumentError) { Server.new(max_connections: 100_000) }
    assert_raises(ArgumentError) { Server.new(value_limit: 10) }
    assert_raises(ArgumentError) { Server.new(value_limit: 1 << 31, memory: 1 << 32) }
    assert_raises(ArgumentError) { Server.new(value_limit: 2 << 20, memory: 1 << 20) }
  end

  def test_a_child_does_not_keep_the_parents_clients_and_may_start_its_own
    output = ruby_output(<<~RUBY)
      require "pelton/memcached"
      $stdout.sync = true
      Pelton.run do
        server = Pelton::Memcached::Server.new.start
        stream = Pelton.connect("127.0.0.1", server.port)
        stream.write("set key 0 0 1\\r\\n1\\r\\n")
        puts stream.gets
        child = fork do
          puts server.running?
          begin
            server.stats
          rescue Pelton::ClosedError => error
            puts error.message
          end
          Pelton.run do
            server.start
            puts Pelton::Memcached::Client.new("127.0.0.1:\#{server.port}", timeout: 20).get("key").inspect
            server.stop
          end
          exit!(0)
        end
        Process.wait(child)
        puts $?.exitstatus
        stream.write("get key\\r\\n")
        3.times { puts stream.gets }
        puts server.stats[:curr_connections]
        server.stop
      end
    RUBY

    assert_equal ["STORED", "false", "this server runs in the parent process: start one in the child", "nil", "0",
      "VALUE key 0 1", "1", "END", "1"], output.lines(chomp: true).map(&:chomp)
  end

  def test_it_survives_collections_and_its_own_death
    run = <<~RUBY
      require "pelton/memcached"
      Pelton.run do
        10.times { Pelton::Memcached::Server.new.start }
        GC.start
        client = nil
        ObjectSpace.each_object(Pelton::Memcached::Server) { |server| client = Pelton::Memcached::Client.new("127.0.0.1:\#{server.port}", timeout: 20) }
        client.set("a", "b")
        GC.compact
        puts client.get("a")
        Pelton.stop
      end
      GC.start
      puts ObjectSpace.each_object(Pelton::Memcached::Server).count(&:running?)
      exit
    RUBY

    assert_equal "b\n0\n", ruby_output(run)
  end

  private

  # How many values it found.
  def busy_client(server, random)
    client = Client.new("127.0.0.1:#{server.port}", timeout: 20)
    found = Array.new(300) do
      key = "key#{random.rand(200)}"
      case random.rand(10)
      when 0..3 then client.set(key, "#{key}:" * random.rand(1..8000))
      when 4 then client.delete(key)
      else
        value = client.get(key)
        assert_equal "#{key}:" * (value.size / (key.size + 1)), value if value
        value
      end
    end
    found.grep(String).size
  ensure
    client&.close
  end

  def with_server(**options)
    Pelton.run do
      server = Server.new(**options).start
      yield server
    ensure
      server&.stop
    end
  end

  def stop_when_answered(server)
    return server.stop if server.instance_variable_get(:@answered)
    Pelton.add_timer(0.01) { stop_when_answered(server) }
  end
end
