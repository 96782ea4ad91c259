# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "pelton/lab"
require "pelton/lab/memcached_server"
require_relative "../with_processes"

class LabInstalledServerTest < PeltonTest
  include WithProcesses

  def setup
    super
    skip "no memcached" unless Pelton::Lab::Programs.find("memcached")
    @server = Pelton::Lab::MemcachedServer::Installed.new(@processes, nil)
  end

  def ask(command, socket: TCPSocket.new("127.0.0.1", @server.port))
    socket.write(command)
    socket.gets
  end

  def test_counts
    assert_equal "STORED\r\n", ask("set k 0 0 1\r\nv\r\n")
    assert_equal "VALUE k 0 1\r\n", ask("get k\r\n")
    assert_equal "DELETED\r\n", ask("delete k\r\n")
    assert_equal "NOT_FOUND\r\n", ask("delete k\r\n")

    assert_equal({cmd_set: 1, get_hits: 1, get_misses: 0, delete_hits: 1, delete_misses: 1}, @server.counters)
  end

  def test_its_version_and_its_command
    assert_match(/\Amemcached \d+\.\d+/, @server.version)
    assert_match(/memcached -l 127\.0\.0\.1 -p #{@server.port} .*-t 1/, @processes.commands["memcached"])
  end

  # A signal reaches the threads one after the other.
  def wait_for_its_stop
    eventually { Dir["/proc/#{@server.pid}/task/*/stat"].all? { |path| File.read(path)[/\) (\w)/, 1] == "T" } }
  end

  def test_while_it_is_stalled_it_answers_nothing_and_then_it_does
    socket = TCPSocket.new("127.0.0.1", @server.port)
    states = []
    stopped = method(:wait_for_its_stop)
    @server.define_singleton_method(:sleep) do |_seconds|
      stopped.call
      socket.write("version\r\n")
      states << (socket.wait_readable(0.1) ? :answered : :silent)
    end
    @server.stall(1)

    assert_equal [:silent], states
    assert_match(/\AVERSION/, socket.gets)
  end

  def test_without_memcached_it_is_unavailable
    path = ENV["PATH"]
    ENV["PATH"] = "/nowhere"

    assert_match(/not installed/,
      assert_raises(Pelton::Lab::Unavailable) { Pelton::Lab::MemcachedServer::Installed.new(@processes, nil) }.message)
  ensure
    ENV["PATH"] = path
  end
end
