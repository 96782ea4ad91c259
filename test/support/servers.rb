# frozen_string_literal: true

require "fileutils"
require "socket"
require_relative "children"

# Real servers for tests, on 127.0.0.1 and free ports. Each is started once a run and killed at its end.
module Servers
  class << self
    # The port of the server that the block's command starts; the block is called with a port, once for each name.
    # The server counts as started when `ready` (called with its port) no longer raises a system's error.
    def port(name, ready: ->(port) { TCPSocket.new("127.0.0.1", port).close }, &command)
      (@ports ||= {})[name] ||= start(name, ready, &command)
    end

    # A port that was free a moment ago, and that the system does not choose for other programs: its choices begin at
    # 32768. (The tests' seed may be that of another process, too.)
    def free_port
      @random ||= Random.new
      port = @random.rand(10_000...32_768)
      TCPServer.open("127.0.0.1", port).close
      port
    rescue Errno::EADDRINUSE
      retry
    end

    private

    def start(name, ready)
      3.times do # another process may take the port first
        port = free_port
        pid = spawn_detached(yield(port))
        Guard.kill_at_end(pid)
        return port if answers?(pid, port, ready)
      end
      raise "#{name} does not start: #{File.read(log)}"
    end

    # The server must not be a child of the tests: Process.waitall in a test would wait for it.
    def spawn_detached(command)
      IO.popen(["sh", "-c", '"$@" </dev/null >"$0" 2>&1 & echo $!', log, *command], &:read).to_i
    end

    def log
      File.expand_path("../../tmp/test/server.log", __dir__).tap { |path| FileUtils.mkdir_p(File.dirname(path)) }
    end

    def answers?(pid, port, ready)
      1000.times do
        ready.call(port)
        return true
      rescue SystemCallError
        sleep 0.01
        break unless alive?(pid)
      end
      false
    end

    def alive?(pid)
      Process.kill(0, pid)
    rescue Errno::ESRCH
      false
    end
  end

  def free_port = Servers.free_port

  # Calls the block with the port of a real memcached, emptied; without a block returns the port. Another name is
  # another memcached.
  def with_memcached(name = "memcached")
    port = Servers.port(name, ready: method(:flush_memcached)) do |port|
      [*memcached_program, "-l", "127.0.0.1", "-p", port.to_s, "-U", "0", "-m", "256", "-c", "4096"]
    end
    flush_memcached(port)
    block_given? ? yield(port) : port
  end

  # Whether the memcached of these tests is Pelton's own: none is installed, or PELTON_MEMCACHED=embedded asks for it.
  def embedded_memcached?
    ENV["PELTON_MEMCACHED"] == "embedded" ||
      ENV["PATH"].split(File::PATH_SEPARATOR).none? { |folder| File.executable?(File.join(folder, "memcached")) }
  end

  private

  def memcached_program
    return ["memcached", *(%w[-u nobody] if Process.uid.zero?)] unless embedded_memcached?
    [*Children::PELTON, "memcached"]
  end

  def flush_memcached(port)
    TCPSocket.open("127.0.0.1", port) do |socket|
      socket.write("flush_all\r\n")
      answer = socket.gets
      raise Errno::ECONNRESET, "not a memcached: #{answer.inspect}" unless answer == "OK\r\n"
    end
  end
end
