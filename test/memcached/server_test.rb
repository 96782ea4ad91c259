# frozen_string_literal: true

require "socket"
require_relative "../test_helper"
require_relative "../support/memcached_server"

# The embedded server: what it serves, and where it runs.
class MemcachedServerTest < PeltonTest
  include MemcachedServer

  def test_it_serves_clients_of_the_same_reactor
    Pelton.run do
      server = Server.new.start
      client = client_of(server)

      assert client.set("key", "value")
      assert_equal "value", client.get("key")
      assert_nil client.get("other")
      assert client.delete("key")
      server.stop
    end
  end

  def test_stats_name_where_it_listens
    with_server(host: ["127.0.0.1"]) do |server|
      stats = client_of(server).stats("settings").values.first

      assert_equal "127.0.0.1", stats["inter"]
      assert_equal server.port, stats["tcpport"].to_i
    end
  end

  def test_large_values
    value = Random.new(1).bytes(900_000)
    with_server do |server|
      client = client_of(server)

      assert client.set("key", value)
      assert_equal value, client.get("key")
      assert_raises(Pelton::Memcached::ServerError) { client.set("key", value + value) }
      assert_nil client.get("key")
    end
  end

  def test_it_shares_the_reactor_with_many_clients
    with_server do |server|
      order = Array.new(10) do |number|
        Pelton.spawn do
          client = client_of(server)
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

  def test_stats
    with_server(memory: 8 << 20, max_connections: 7) do |server|
      client = client_of(server)
      client.set("key", "value")
      2.times { client.get("key") }
      client.get("other")
      stats = server.stats

      assert_equal({get_hits: 2, get_misses: 1, cmd_get: 3, cmd_set: 1, curr_items: 1, curr_connections: 1},
        stats.slice(:get_hits, :get_misses, :cmd_get, :cmd_set, :curr_items, :curr_connections))
      assert_equal [8 << 20, 7], stats.values_at(:limit_maxbytes, :max_connections)
    end
  end

  # Such as Dalli before 5.0 by default, which cannot read the answer.
  def test_clients_of_the_binary_protocol_are_named_in_the_log
    log = StringIO.new
    Pelton.logger = log
    Pelton.run do
      without, server = Array.new(2) { Server.new.start }
      client_of(without).set("key", "value")
      stream = Pelton.connect("127.0.0.1", server.port)
      stream.write([0x80, 0x0b].pack("CC") + "\0" * 22)
      assert_match(/binary protocol/, stream.read)
      eventually { log.string.include?("binary protocol") }
      assert_match(/memcached: 1 client spoke the binary protocol.*was cut off: .*protocol: :meta/, log.string)
      assert_equal 1, log.string.scan("binary protocol").size
    ensure
      Pelton.stop
    end
  ensure
    Pelton.logger = $stderr
  end

  def test_several_servers_are_independent
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

  # ---- starting and stopping

  def test_stop_closes_everything_and_start_begins_empty
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
      assert_nil client_of(server).get("key")
    end
  end

  def test_requests_before_a_stop_are_answered
    Pelton.run do
      server = Server.new.start
      TCPSocket.open("127.0.0.1", server.port) do |socket|
        socket.write("set key 0 0 5\r\nvalue\r\n" + "get key\r\n" * 1000)
        server.stop

        assert_equal "STORED\r\n" + "VALUE key 0 5\r\nvalue\r\nEND\r\n" * 1000, socket.read
      end
    end
  end

  def test_the_reactor_stops_the_server
    server = nil
    Pelton.run do
      server = Server.new.start
      Pelton.next_tick { Pelton.stop }
    end

    refute_predicate server, :running?
  end

  def test_a_running_server_keeps_run_going
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

  def test_starting_twice_is_refused
    with_server { |server| assert_raises(Pelton::Error) { server.start } }
  end

  def test_servers_survive_collections_and_are_collected
    run = <<~RUBY
      require "pelton/memcached"
      Pelton.run do
        10.times { Pelton::Memcached::Server.new.start }
        GC.start
        client = nil
        ObjectSpace.each_object(Pelton::Memcached::Server) do |server|
          client = Pelton::Memcached::Client.new("127.0.0.1:\#{server.port}", timeout: 20)
        end
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

  # ---- reactors, threads, processes

  def test_run_runs_a_reactor_of_its_own
    port = nil
    server = Server.new
    server.run { |running| port = running.port && server.stop }

    assert_nil port
    refute_predicate server, :running?
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

  def test_start_with_a_block_stops_the_server_after_it
    seen = nil
    value = Server.start do |server|
      seen = server
      Client.new(*server.addresses, timeout: 20).set("key", "value")
    end

    assert value
    refute_predicate seen, :running?
  end

  def test_an_error_in_the_servers_thread_is_raised_by_start
    Server.start do |server|
      error = assert_raises(Pelton::ConnectionError) { Server.start(port: server.port) }

      assert_match(/in use/, error.message)
    end
  end

  def test_any_thread_may_read_stats_and_stop_it
    Pelton.run do
      server = Server.new.start
      stats = Thread.new { server.stats }.value
      Thread.new { server.stop }.join

      assert_equal 0, stats[:curr_items]
      refute_predicate server, :running?
    end
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

  private

  def stop_when_answered(server)
    return server.stop if server.instance_variable_get(:@answered)
    Pelton.add_timer(0.01) { stop_when_answered(server) }
  end
end
