# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"
require "tmpdir"

class ClusterSocketsTest < PeltonTest
  Sockets = Pelton::Cluster::Sockets

  def teardown
    @sockets&.close
  end

  def test_each_is_open
    Dir.mktmpdir do |folder|
      address = "tcp://127.0.0.1:#{free_port}"
      @sockets = Sockets.open([address, "unix://#{folder}/s"])

      Socket.tcp("127.0.0.1", @sockets[address].local_address.ip_port).close
      Socket.unix("#{folder}/s").close
      assert_equal [address, "unix://#{folder}/s"], @sockets.addresses
      @sockets.close
      assert_path_exists "#{folder}/s"
    end
  end

  def test_an_abandoned_path_is_taken_and_a_used_one_is_not
    Dir.mktmpdir do |folder|
      UNIXServer.new("#{folder}/s").close
      @sockets = Sockets.open(["unix://#{folder}/s"])
      assert_raises(Errno::EADDRINUSE) { Sockets.open(["unix://#{folder}/s"]) }
    end
  end

  def test_places_have_the_ports_that_the_system_chose
    Dir.mktmpdir do |folder|
      @sockets = Sockets.open(["tcp://127.0.0.1:0", "unix://#{folder}/s"])
      port = @sockets["tcp://127.0.0.1:0"].local_address.ip_port

      assert_equal ["tcp://127.0.0.1:#{port}", "unix://#{folder}/s"], @sockets.places
    end
  end

  def test_it_says_why_an_address_cannot_be_opened
    TCPServer.open("127.0.0.1", 0) do |taken|
      address = "tcp://127.0.0.1:#{taken.addr[1]}"
      assert_match(/- #{address}: another process listens there/,
        assert_raises(Errno::EADDRINUSE) { Sockets.open([address]) }.message)
    end
    assert_match(%r{there is no folder /none: make it},
      assert_raises(Errno::ENOENT) { Sockets.open(["unix:///none/s"]) }.message)
    assert_match(/a file that is not a socket/,
      assert_raises(Errno::EADDRINUSE) { Sockets.open(["unix://#{__FILE__}"]) }.message)
    denied = ->(*) { raise Errno::EACCES }
    Socket.stub(:new, denied) do
      assert_match(/below 1024/, assert_raises(Errno::EACCES) { Sockets.open(["tcp://127.0.0.1:80"]) }.message)
    end
  end

  def test_when_one_address_cannot_be_opened_no_socket_stays_open
    port = free_port
    TCPServer.open("127.0.0.1", 0) do |taken|
      assert_raises(Errno::EADDRINUSE) { Sockets.open(["tcp://127.0.0.1:#{port}", "tcp://127.0.0.1:#{taken.addr[1]}"]) }
    end
    TCPServer.open("127.0.0.1", port).close
  end

  # Nobody is disturbed, and nothing is left: pelton serve --check tells what it means for a server.
  def test_whether_an_address_could_be_opened
    Dir.mktmpdir do |dir|
      @sockets = Sockets.open(["tcp://127.0.0.1:0", "unix://#{dir}/used"])
      UNIXServer.new("#{dir}/abandoned").close
      used = @sockets["tcp://127.0.0.1:0"].local_address.ip_port
      places = ["tcp://127.0.0.1:#{used}", "unix://#{dir}/used", "tcp://127.0.0.1:#{free_port}", "unix://#{dir}/free",
        "unix://#{dir}/abandoned"]

      assert_equal %i[in_use in_use free free free], places.map { |place| Sockets.probe(place) }
      assert_equal %w[abandoned used], Dir.children(dir).sort
      assert_raises(Errno::ENOENT) { Sockets.probe("unix://#{dir}/none/s") }
      assert_raises(Errno::EADDRINUSE) { Sockets.probe("unix://#{__FILE__}") }
      assert_raises(Errno::EADDRNOTAVAIL) { Sockets.probe("tcp://192.0.2.1:1") }
    end
  end

  def test_the_next_program_takes_them_over
    @sockets = Sockets.open(["tcp://127.0.0.1:#{free_port}"])
    environment, descriptors = @sockets.for_exec
    program = <<~RUBY
      require "pelton/cluster"
      sockets = Pelton::Cluster::Sockets.open([ARGV[0]])
      p sockets[ARGV[0]].fileno, ENV.key?("PELTON_SOCKETS")
    RUBY
    output = IO.popen([child_environment.merge(environment), RbConfig.ruby, "-I#{Children::LIB}", "-e", program,
      @sockets.addresses[0], descriptors], &:read)

    assert_equal "#{descriptors.keys[0]}\nfalse\n", output
  end

  def test_it_starts_the_next_program_and_has_it_live
    @sockets = Sockets.open(["tcp://127.0.0.1:#{free_port}"])
    follower = <<~RUBY
      require "pelton/cluster"
      Process.kill("USR1", Process.pid) # the next program does not handle the signal yet
      p Pelton::Cluster::Sockets.open([ARGV[0]])[ARGV[0]].fileno == Integer(ARGV[1])
    RUBY
    reader, writer = IO.pipe
    child = fork do
      $stdout.reopen(writer)
      address = @sockets.addresses[0]
      @sockets.exec([RbConfig.ruby, "-I#{Children::LIB}", "-e", follower, address, @sockets[address].fileno.to_s])
    end
    writer.close
    Process.wait(child)

    assert_equal "true\n", reader.read
  end

  def test_systemd_s_sockets_are_taken_by_their_index
    listening = TCPServer.new("127.0.0.1", 0)
    port = listening.addr[1]
    program = <<~RUBY
      require "pelton/cluster"
      ENV["LISTEN_PID"] = Process.pid.to_s
      sockets = Pelton::Cluster::Sockets.open([ARGV[0]])
      p sockets[ARGV[0]].fileno, ENV.key?("LISTEN_FDS")
    RUBY
    output = IO.popen([child_environment.merge("LISTEN_FDS" => "1"), RbConfig.ruby, "-I#{Children::LIB}", "-e", program,
      "tcp://127.0.0.1:#{port}", {3 => listening}], &:read)

    assert_equal "3\nfalse\n", output
  ensure
    listening.close
  end
end
