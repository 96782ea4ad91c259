# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton"

class ListenerTest < PeltonTest
  def teardown
    Pelton.on_error
  end

  # ---- with a block

  def test_the_block_is_called_for_each_connection
    got = []
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) do |stream|
        assert_instance_of Pelton::Stream, stream
        got << stream.gets
        stream.close
        listener.close if got.size == 3
      end
      assert_operator listener.port, :>, 0
      assert_equal "127.0.0.1", listener.local_address.ip_address
      3.times { |i| Pelton.connect("127.0.0.1", listener.port).write("hello #{i}\n") }
    end
    assert_equal ["hello 0\n", "hello 1\n", "hello 2\n"], got.sort
  end

  def test_a_listener_with_a_block_keeps_run_going_until_it_is_closed
    listener = nil
    served = 0
    client = nil
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) do |stream|
        served += 1
        listener.close
      end
      client = Thread.new { TCPSocket.new("127.0.0.1", listener.port).close }
    end
    client.join
    assert_equal 1, served
    assert_predicate listener, :closed?
  end

  def test_a_block_that_waits_or_fails_delays_no_other_connection
    log = []
    errors = []
    Pelton.on_error { |error| errors << error.message }
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) do |stream|
        name = stream.gets(chomp: true)
        raise "of #{name}" if name == "bad"
        stream.gets if name == "slow"
        log << name
        stream.close
      end
      slow = Pelton.connect("127.0.0.1", listener.port)
      slow.write("slow\n")
      bad = Pelton.connect("127.0.0.1", listener.port)
      bad.write("bad\n")
      good = Pelton.connect("127.0.0.1", listener.port)
      good.write("good\n")
      assert_nil good.gets
      slow.write("\n")
      assert_nil slow.gets
      listener.close
    end
    assert_equal %w[good slow], log
    assert_equal ["of bad"], errors
  end

  def test_more_connections_than_one_batch_are_all_accepted
    count = 0
    clients = []
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) do |stream|
        count += 1
        stream.close
      end
      clients = Array.new(300) { Socket.tcp("127.0.0.1", listener.port) }
      Pelton::Reactor.current.yield until count == 300
      assert_equal({accepted: 300, pauses: 0}, listener.stats)
      listener.close
    end
  ensure
    clients.each(&:close)
  end

  def test_a_shared_listener_accepts_one_connection_an_iteration
    server = TCPServer.new("127.0.0.1", 0)
    server.autoclose = false
    clients = Array.new(3) { TCPSocket.new("127.0.0.1", server.addr[1]) }
    taken = []
    Pelton.run do
      listener = Pelton::Listener.for_fd(server.fileno, shared: true) { |stream| stream.close }
      until taken.last == 3
        taken << listener.stats[:accepted]
        Pelton::Reactor.current.yield
      end
      listener.close
    end

    assert_equal [0, 1, 2, 3], taken.uniq
  ensure
    clients&.each(&:close)
  end

  def test_pending_counts_accepted_connections_whose_block_has_not_begun
    served = 0
    clients = nil
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) { |stream| served += 1 if stream }
      clients = waiting_clients(listener, 3)
      Pelton::Reactor.current.yield while listener.stats[:accepted] < 3
      listener.close
      assert_equal 3, listener.pending
      assert_equal 0, served
      Pelton::Reactor.current.yield until listener.pending == 0

      assert_equal 3, served
    end
  ensure
    clients.each(&:close)
  end

  # When the last listener on a socket closes it, the system resets the connections in its backlog.
  def test_finish_serves_the_backlog
    clients = nil
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.write("served").then { stream.close } }
      port = listener.port
      clients = waiting_clients(listener, 100) # more than one batch
      listener.finish
      assert_equal 100, listener.pending
      assert_equal true, listener.closed?
      assert_nil listener.finish
      assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", port) }
    end

    assert_equal ["served"], clients.map(&:read).uniq
  ensure
    clients.each(&:close)
  end

  def test_finish_without_a_block_closes
    listener = Pelton.listen("127.0.0.1", 0)
    client = TCPSocket.new("127.0.0.1", listener.port)
    listener.finish

    assert_predicate listener, :closed?
    assert_raises(Errno::ECONNRESET) { client.read }
  ensure
    client.close
  end

  def test_pending_is_zero_after_the_reactor_has_ended
    listener = client = nil
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) {}
      client = waiting_clients(listener, 1).first
      Pelton::Reactor.current.yield while listener.stats[:accepted] < 1
      assert_equal 1, listener.pending
      Pelton.stop
    end

    assert_equal 0, listener.pending
  ensure
    client.close
  end

  def test_stop_closes_the_listener
    listener = nil
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) {}
      Pelton.stop
    end
    assert_predicate listener, :closed?
    assert_raises(Pelton::ClosedError) { listener.port }
  end

  def test_a_block_that_raises_closes_its_stream
    [nil, Certificates.server.to_h].each do |tls|
      kept = []
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0, tls: tls) do |stream|
          kept << stream
          raise "in the block"
        end
        Pelton.on_error { |error| kept << error.message }
        client = Pelton.connect("127.0.0.1", listener.port, timeout: 5, tls: tls && {verify: false})

        assert_nil client.gets(timeout: 5)
        assert_equal true, kept.first.closed?
        assert_equal "in the block", kept.last
        listener.close
      end
    ensure
      Pelton.on_error
    end
  end

  # ---- accept

  def test_accept_parks_or_blocks
    [->(&block) { Pelton.run(&block) }, ->(&block) { block.call }].each do |style|
      style.call do
        listener = Pelton.listen("127.0.0.1", 0)
        client = Thread.new { TCPSocket.new("127.0.0.1", listener.port).tap { |socket| socket.write("x\n") } }
        stream = listener.accept
        assert_equal "x\n", stream.gets
        assert_raises(Pelton::TimeoutError) { listener.accept(timeout: 0.005) }
        assert_equal 1, listener.stats[:accepted]
        stream.close
        listener.close
        client.value.close
      end
    end
  end

  def test_several_fibers_accept
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0)
      impatient = Pelton.spawn { listener.accept(timeout: 0.005) }
      cancelled = Pelton.spawn { listener.accept }
      acceptors = Array.new(3) { Pelton.spawn { listener.accept.gets } }
      assert_raises(Pelton::TimeoutError) { impatient.await }
      cancelled.cancel
      3.times { Pelton.connect("127.0.0.1", listener.port).write("x\n") }
      assert_equal ["x\n"] * 3, acceptors.map(&:await)
      listener.close
    end
  end

  def test_accept_raises_when_the_listener_is_closed
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0)
      acceptors = Array.new(2) { Pelton.spawn { listener.accept } }
      Pelton::Reactor.current.yield
      listener.close
      listener.close
      acceptors.each { |task| assert_raises(Pelton::ClosedError) { task.await } }
      assert_raises(Pelton::ClosedError) { listener.accept }
    end
  end

  # The system refuses to accept on a socket that another owner of the descriptor has shut down.
  def test_accept_raises_what_the_system_refuses
    server = TCPServer.new("127.0.0.1", 0)
    server.autoclose = false
    Pelton.run do
      listener = Pelton::Listener.for_fd(server.fileno)
      server.shutdown
      assert_equal Errno::EINVAL::Errno, assert_raises(Pelton::ConnectionError) { listener.accept(timeout: 5) }.errno
      listener.close
    end
  end

  def test_accept_is_refused_with_a_block
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) {}
      assert_raises(Pelton::Error) { listener.accept }
      listener.close
    end
  end

  # ---- addresses

  def test_an_address_that_is_in_use_or_not_local
    taken = TCPServer.new("127.0.0.1", 0)
    error = assert_raises(Pelton::ConnectionError) { Pelton.listen("127.0.0.1", taken.addr[1]) }
    assert_equal "cannot listen on 127.0.0.1:#{taken.addr[1]}: Address already in use", error.message
    assert_equal Errno::EADDRINUSE::Errno, error.errno
    assert_equal Errno::EADDRNOTAVAIL::Errno,
      assert_raises(Pelton::ConnectionError) { Pelton.listen("192.0.2.1", 0) }.errno
    assert_raises(Pelton::ResolutionError) { Pelton.listen("no such name.invalid", 0) }
  ensure
    taken.close
  end

  def test_reuse_port_lets_listeners_share_a_port
    one = Pelton.listen("127.0.0.1", 0, reuse_port: true)
    other = Pelton.listen("127.0.0.1", one.port, reuse_port: true)
    assert_equal one.port, other.port
    one.close
    other.close
  end

  def test_ipv6
    skip "no IPv6 here" unless Socket.ip_address_list.any?(&:ipv6_loopback?)
    Pelton.run do
      listener = Pelton.listen("::1", 0)
      Pelton.connect("::1", listener.port).write("six\n")
      assert_equal "six\n", listener.accept.gets
      listener.close
    end
  end

  def test_unix_sockets
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      Pelton.run do
        listener = Pelton.listen_unix(path)
        assert_equal path, listener.local_address.unix_path
        Pelton.connect_unix(path).write("unix\n")
        assert_equal "unix\n", listener.accept.gets
        assert_raises(Pelton::ConnectionError) { Pelton.listen_unix(path) } # in use
        listener.close
        again = Pelton.listen_unix(path) # abandoned
        again.close
        File.unlink(path)
        File.write(path, "no socket")
        assert_raises(Pelton::ConnectionError) { Pelton.listen_unix(path) }
        assert_equal "no socket", File.read(path)
      end
    end
  end

  # ---- inherited descriptors, threads and forks

  def test_for_fd_takes_a_listening_descriptor_over
    server = TCPServer.new("127.0.0.1", 0)
    server.autoclose = false
    Pelton.run do
      listener = Pelton::Listener.for_fd(server.fileno)
      Pelton.connect("127.0.0.1", server.addr[1]).write("x\n")
      assert_equal "x\n", listener.accept.gets
      listener.close
      assert_raises(Pelton::ConnectionError) { Pelton::Listener.for_fd(9999) }
    end
  end

  def test_a_child_opens_its_own_listener_on_the_descriptor
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0)
      child = fork do
        assert_match(/for_fd/, assert_raises(Pelton::ClosedError) { listener.accept }.message)
        own = Pelton::Listener.for_fd(listener.fileno)
        GC.start
        exit!(own.accept.gets == "to the child\n")
      end
      Pelton.connect("127.0.0.1", listener.port).write("to the child\n")
      Process.wait(child)
      assert_predicate $?, :success?
      Pelton.connect("127.0.0.1", listener.port).write("to the parent\n")
      assert_equal "to the parent\n", listener.accept(timeout: 10).gets
      listener.close
    end
  end

  def test_another_thread_is_refused
    listener = Pelton.listen("127.0.0.1", 0)
    %i[accept close].each do |name|
      assert_match(/thread/, Thread.new { assert_raises(Pelton::Error) { listener.public_send(name) } }.value.message)
    end
    listener.close
  end

  # ---- no descriptors left

  # Clients that cannot be accepted wait in the backlog. The loop must not spin meanwhile.
  def test_a_listener_pauses_when_descriptors_run_out_and_loses_no_client
    skip "valgrind sets no limits" if VALGRIND
    assert_equal "some served, without spinning\nall served\n", ruby_output(<<~'RUBY')
      require "pelton"
      require "socket"
      served = []
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| served << stream }
        clients = Array.new(10) do
          Socket.new(:INET, :STREAM).tap { |one| one.connect_nonblock(listener.local_address, exception: false) }
        end
        Process.setrlimit(:NOFILE, clients.last.fileno + 3, Process.getrlimit(:NOFILE).last)
        before = Pelton.stats[:iterations]
        sleep 0.01 until listener.stats[:pauses] >= 2
        spun = Pelton.stats[:iterations] - before
        puts "#{served.size < 10 ? "some" : "all"} served, #{spun < 500 ? "without" : "with"} spinning"
        Process.setrlimit(:NOFILE, 200, Process.getrlimit(:NOFILE).last)
        sleep 0.01 until served.size == 10
        puts "all served"
        listener.close
      end
    RUBY
  end

  def test_direct_style_waits_for_descriptors
    skip "valgrind sets no limits" if VALGRIND
    assert_equal "Pelton::Stream\n1\ntrue\n", ruby_output(<<~RUBY)
      require "pelton"
      require "socket"
      listener = Pelton.listen("127.0.0.1", 0)
      client = TCPSocket.new("127.0.0.1", listener.port)
      Pelton.run do
        Process.setrlimit(:NOFILE, client.fileno + 1, Process.getrlimit(:NOFILE).last)
        Pelton.add_timer(0.02) { Process.setrlimit(:NOFILE, 200, Process.getrlimit(:NOFILE).last) }
        puts listener.accept.class, listener.stats[:accepted], listener.stats[:pauses].positive?
        listener.close
      end
    RUBY
  end

  private

  # Clients that the listener has not accepted: they connect without letting the loop run.
  def waiting_clients(listener, count)
    Array.new(count) do
      Socket.new(:INET, :STREAM).tap { |client| client.connect_nonblock(listener.local_address, exception: false) }
    end
  end
end
