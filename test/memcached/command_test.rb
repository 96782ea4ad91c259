# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached/command"
require "socket"
require "stringio"
require "tmpdir"

class MemcachedCommandTest < PeltonTest
  Command = Pelton::Memcached::Command

  def test_without_options_it_listens_on_the_local_machine_only
    assert_equal({host: nil, port: 11_211, path: nil, mode: 0o700, memory: 64 << 20, max_connections: 1024,
      value_limit: 1 << 20, idle_timeout: 0, verbosity: 0},
      options)
  end

  def test_options_are_those_of_memcached
    assert_equal({host: ["127.0.0.1", "::1"], port: 11_212, path: nil, mode: 0o700, memory: 8 << 20,
      max_connections: 10, value_limit: 2 << 20, idle_timeout: 60,
                  verbosity: 2},
      options("-p", "11212", "-l", "127.0.0.1,::1", "-m", "8", "-c", "10", "-U", "0", "-I", "2m", "-o",
        "idle_timeout=60", "-vv"))
    assert_equal options("-p", "11212", "-m", "8", "-c", "10", "-U", "0", "-I", "512k", "-s", "/tmp/x"),
      options("--port=11212", "--memory-limit=8", "--conn-limit=10", "--udp-port=0", "--max-item-size=524288",
        "--unix-socket=/tmp/x")
    assert_equal 0o770, options("-a", "770")[:mode]
    assert_equal 0o660, options("--unix-mask=0660")[:mode]
    assert_equal 11_212, options("-p11212")[:port]
    assert_equal 11_212, options("-p=11212")[:port]
  end

  def test_help
    status, out, _error = run_command("-h")

    assert_equal 0, status
    assert_match(/\Ausage: pelton memcached.*--memory-limit/m, out)
    %w[-V --version].each { |option| assert_equal [0, "pelton #{Pelton::VERSION}\n", ""], run_command(option) }
  end

  # As memcached, which looks at it only as root.
  def test_the_user_is_not_changed
    assert_equal options, options("-u", "root")
    status, _out, error = run_command("-u", "nobody", "-p", "x")

    assert_equal 2, status
    assert_match(Process.euid.zero? ? /-u is not supported: start pelton memcached as nobody/ : /-p x/, error)
  end

  def test_unknown_options
    {%w[-U 11211] => /UDP is not supported/, %w[-I 1x] => /a size must be/, %w[-p x] => /-p x/,
     %w[-p 70000] => /a port is 0 to 65535, not 70000/, %w[-p -1] => /not -1/, %w[--nonsense] => /nonsense/,
     %w[more] => /unknown argument: more/,
     %w[-m 0] => /memory must be/, %w[-c 0] => /max_connections must be/, %w[-o nonsense] => /idle_timeout=SECONDS/,
     %w[-I 10] => /value_limit must be/}.each do |arguments, complaint|
      status, out, error = run_command(*arguments)

      assert_equal 2, status, arguments.inspect
      assert_equal "", out, arguments.inspect
      assert_match(/\Apelton memcached: .*#{complaint.source}/, error)
    end
  end

  def test_a_port_in_use
    TCPServer.open("127.0.0.1", 0) do |taken|
      status, _out, error = run_command("-p", taken.addr[1].to_s)

      assert_equal 1, status
      assert_match(/\Apelton memcached: .*in use/, error)
    end
  end

  def test_it_serves_until_it_is_terminated
    %w[TERM INT].each do |signal|
      IO.popen([*PELTON, "memcached", "-p", "0"]) do |child|
        port = child.gets[/\Apelton memcached: listening on 127\.0\.0\.1:(\d+)$/, 1]
        TCPSocket.open("127.0.0.1", port) do |socket|
          socket.write("set a 0 0 1\r\n1\r\nget a\r\n")

          assert_equal ["STORED\r\n", "VALUE a 0 1\r\n", "1\r\n", "END\r\n"], Array.new(4) { socket.gets }
          Process.kill(signal, child.pid)
          assert_nil socket.gets
        end
      end

      assert_equal 0, $?.exitstatus, signal
    end
  end

  def test_requests_before_the_termination_are_answered
    IO.popen([*PELTON, "memcached", "-p", "0"]) do |child|
      sockets = Array.new(2, child.gets[/\d+$/]).map { |port| TCPSocket.new("127.0.0.1", port) }
      sockets[0].write("mn\r\n")
      assert_equal "MN\r\n", sockets[0].gets
      Process.kill("STOP", child.pid)
      sockets.each_with_index { |socket, index| socket.write("set a#{index} 0 0 1\r\n1\r\nget a#{index}\r\n") }
      Process.kill("TERM", child.pid)
      Process.kill("CONT", child.pid)

      assert_equal Array.new(2) { |index| "STORED\r\nVALUE a#{index} 0 1\r\n1\r\nEND\r\n" }, sockets.map(&:read)
    end

    assert_equal 0, $?.exitstatus
  end

  def test_a_unix_socket
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      IO.popen([*PELTON, "memcached", "-s", path, "-v"]) do |child|
        assert_equal "pelton memcached: listening on #{path}\n", child.gets
        UNIXSocket.open(path) do |socket|
          socket.write("mn\r\n")

          assert_equal "MN\r\n", socket.gets
        end
        Process.kill("TERM", child.pid)
      end

      refute_path_exists path
    end
  end

  def test_vv_logs_each_command
    errors = Tempfile.new("errors")
    IO.popen([*PELTON, "memcached", "-p", "0", "-vv", err: errors]) do |child|
      TCPSocket.open("127.0.0.1", child.gets[/\d+$/]) do |socket|
        socket.write("set a 0 0 1\r\n1\r\nget a\tb c\r\nmg GwBb b\r\nnonsense\r\nverbosity 0\r\nget c\r\n")
        socket.close_write
        socket.read
      end
      Process.kill("TERM", child.pid)
    end

    assert_equal ["< set a", "< get a\\x09b", "< get c", "< mg \\x1b\\x00[", "< ERROR", "< verbosity "],
      File.readlines(errors.path, chomp: true)
  ensure
    errors&.close!
  end

  private

  def options(*arguments) = Command.new(arguments).options

  def run_command(*arguments)
    out, error = StringIO.new, StringIO.new
    [Command.run(arguments, out: out, error: error), out.string, error.string]
  end
end
