# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../test_helper"
require "pelton"

class ConnectorTest < PeltonTest
  INSIDE = ->(&block) { Pelton.run(&block) }
  OUTSIDE = ->(&block) { block.call }

  def setup
    @server = TCPServer.new("127.0.0.1", 0)
    @port = @server.addr[1]
    Pelton::Resolver.resolve("localhost", 1) # starts its threads, which open descriptors
    GC.start
    GC.disable # a collection would close descriptors that other tests, or this one, have left open
    @descriptors = descriptors
  end

  def teardown
    GC.enable
    @server.close
  end

  # Inside and outside a reactor, the block's stream talks to the server, and no descriptor is left.
  def assert_connects
    [INSIDE, OUTSIDE].each do |style|
      style.call do
        stream = yield
        assert_echoes stream
        stream.close
      end
      assert_nothing_open
    end
  end

  # ---- three styles

  def test_direct_style
    assert_connects { Pelton.connect("127.0.0.1", @port) }
  end

  def test_callback_style
    [INSIDE, OUTSIDE].each do |style|
      got = []
      style.call do
        deferrable = Pelton.connect("127.0.0.1", @port) { |stream| got << stream }
        assert_kind_of Pelton::Operation, deferrable
        assert_equal (Pelton.running? ? 0 : 1), got.size
        stream = deferrable.await
        Pelton::Reactor.current.yield if got.empty?
        assert_same stream, got.first
        assert_echoes got.first
        got.first.close
      end
    end
  end

  def test_an_error_goes_to_errbacks
    @server.close
    [INSIDE, OUTSIDE].each do |style|
      errors = []
      style.call do
        deferrable = Pelton.connect("127.0.0.1", @port) { flunk }.errback { |error| errors << error.class }
        assert_raises(Pelton::ConnectionError) { deferrable.await }
      end
      assert_equal [Pelton::ConnectionError], errors
    end
  end

  # ---- names and addresses

  def test_names
    Pelton.run do
      stream = Pelton.connect("localhost", @port) # mostly resolves to IPv6 as well, where no server listens
      assert_echoes stream
      assert_raises(Pelton::ResolutionError) { Pelton.connect("no-such-name.invalid", @port) }
      stream.close
    end
    assert_nothing_open
  end

  def test_ipv6
    skip "no IPv6 here" unless Socket.ip_address_list.any?(&:ipv6_loopback?)
    @server.close
    @server = TCPServer.new("::1", 0)
    Pelton.run do
      ["::1", "[::1]"].each { |host| assert_echoes Pelton.connect(host, @server.addr[1]) }
    end
  end

  def test_from_a_local_address
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", @port, local_host: "127.0.0.2")
      assert_equal "127.0.0.2", @server.accept.remote_address.ip_address
      error = assert_raises(Pelton::ConnectionError) { Pelton.connect("127.0.0.1", @port, local_host: "192.0.2.1") }
      assert_equal Errno::EADDRNOTAVAIL::Errno, error.errno
      stream.close
    end
  end

  # ---- several addresses

  def test_the_next_address_is_tried_when_one_refuses
    refused = address(free_port)
    assert_connects { connect([refused, refused, address(@port)]) }
  end

  def test_the_next_address_is_tried_when_an_attempt_fails_at_once
    nowhere = Addrinfo.new(Socket.sockaddr_un("/nonexistent/socket"), Socket::PF_UNIX, :STREAM)
    stream = connect([nowhere, address(@port)])
    assert_echoes stream
    stream.close
    assert_nothing_open
  end

  def test_a_slow_address_does_not_delay_the_next_attempt
    with_black_hole do |hole|
      before = descriptors
      [INSIDE, OUTSIDE].each do |style|
        style.call do
          stream = connect([hole, hole, address(@port)])
          assert_echoes stream
          stream.close
        end
        assert_equal before, descriptors
      end
    end
  end

  # Both attempts are under way: the first that is connected wins.
  def test_a_slow_address_may_still_be_connected_first
    with_black_hole do |hole, open_hole|
      Pelton.run do
        Pelton.add_timer(0.3) { open_hole.call } # when the second attempt is under way
        stream = connect([hole, hole])
        assert_equal hole.ip_port, stream.remote_address.ip_port
        stream.close
      end
    end
  end

  def test_when_all_fail_the_last_error_is_raised
    port = free_port
    error = assert_raises(Pelton::ConnectionError) { connect([address(port), address(port)]) }
    assert_equal Errno::ECONNREFUSED::Errno, error.errno
    assert_match(/127\.0\.0\.1:#{port}.*refused/, error.message)
    assert_predicate error, :retriable?
    assert_raises(Pelton::ConnectionError) { connect([]) }
    assert_nothing_open
  end

  # ---- timeouts and cancellation

  def test_a_timeout_leaves_nothing_open
    with_black_hole do |hole|
      before = descriptors
      [INSIDE, OUTSIDE].each do |style|
        style.call { assert_raises(Pelton::TimeoutError) { connect([hole], timeout: 0.02) } }
        assert_equal before, descriptors
      end
      Pelton.run { assert_raises(Pelton::TimeoutError) { Pelton.connect("127.0.0.1", hole.ip_port, timeout: 0.02) } }
      assert_raises(Pelton::TimeoutError) { connect([hole], timeout: 0) }
      assert_equal before, descriptors
    end
  end

  def test_a_cancelled_attempt_leaves_nothing_open
    with_black_hole do |hole|
      Pelton.run do
        before = descriptors
        task = Pelton.spawn { connect([hole, hole]) }
        Pelton::Reactor.current.yield
        assert_equal before + 1, descriptors
        task.cancel
        assert_raises(Pelton::Cancelled) { task.await }
        assert_equal before, descriptors
      end
    end
  end

  def test_without_descriptors
    assert_equal "true\n", ruby_output(<<~RUBY, @port)
      require "pelton"
      Pelton.run do
        Pelton.connect("127.0.0.1", ARGV[0].to_i).close
        Process.setrlimit(:NOFILE, 3, Process.getrlimit(:NOFILE).last)
        Pelton.connect("127.0.0.1", ARGV[0].to_i)
      rescue Pelton::ConnectionError => error
        p error.errno == Errno::EMFILE::Errno
      end
    RUBY
  end

  # ---- UNIX sockets

  def assert_connects_by_unix(path, server)
    stream = Pelton.connect_unix(path)
    stream.write("x")
    assert_equal "x", server.accept.readpartial(1)
    stream.close
  end

  def test_unix_sockets
    with_unix_server do |path, server|
      [INSIDE, OUTSIDE].each do |style|
        style.call do
          assert_connects_by_unix path, server
        end
      end
      error = assert_raises(Pelton::ConnectionError) { Pelton.connect_unix("#{path}.none") }
      assert_equal Errno::ENOENT::Errno, error.errno
      assert_match(/#{path}/, error.message)
    end
  end

  def test_connect_unix_calls_a_block_with_the_stream
    with_unix_server do |path, _server|
      stream = nil
      Pelton.run { Pelton.connect_unix(path) { |connected| stream = connected }.await }

      assert_kind_of Pelton::Stream, stream
      stream.close
    end
  end

  # The system refuses such a connection at once, instead of letting the client wait.
  def test_connect_unix_waits_for_a_server_whose_backlog_is_full
    with_unix_server do |path, server|
      server.listen(0)
      waiting = []
      loop { waiting << connected(path) }
    rescue Errno::EAGAIN
      assert_raises(Pelton::TimeoutError, Pelton::ConnectionError) { Pelton.connect_unix(path, timeout: 0.02) }
      Pelton.run do
        Pelton.add_timer(0.02) { waiting.size.times { server.accept_nonblock.close } }
        assert_connects_by_unix path, server
      end
    end
  end

  private

  def address(port) = Addrinfo.tcp("127.0.0.1", port)

  def connect(addresses, timeout: 10) = Pelton::Connector.connect(addresses, deadline: now + timeout)

  def assert_echoes(stream)
    peer = @server.accept
    stream.write("hello\n")
    assert_equal "hello\n", peer.gets
    peer.write("bye\n")
    assert_equal "bye\n", stream.gets
  ensure
    peer&.close
  end

  def descriptors = Dir.children("/proc/self/fd").size

  def assert_nothing_open
    assert_equal @descriptors, descriptors
  end

  # Yields the address of a listener that connects no client, because its backlog is full, and a Proc that lets it
  # accept.
  def with_black_hole
    listener = Socket.new(:INET, :STREAM)
    listener.bind(Addrinfo.tcp("127.0.0.1", 0))
    listener.listen(0)
    clients = []
    loop do
      clients << Socket.new(:INET, :STREAM)
      clients.last.connect_nonblock(listener.local_address, exception: false)
      break unless clients.last.wait_writable(0.1)
    end
    Pelton.run { sleep 0 } # opens the reactor's own descriptors
    yield listener.local_address, -> {
      listener.listen(100) &&
        clients.size.times { listener.accept_nonblock(exception: false) }
    }
  ensure
    [listener, *clients].each(&:close)
  end

  def with_unix_server
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      UNIXServer.open(path) { |server| yield path, server }
    end
  end

  def connected(path)
    Socket.new(:UNIX, :STREAM).tap { |socket| socket.connect_nonblock(Addrinfo.unix(path)) }
  end
end
