# frozen_string_literal: true

require "socket"

# A memcached of a test's own, which it may kill, freeze and start again on the same port.
class MemcachedProcess
  attr_reader :port

  # @param command [Array<String>] `-l`, `-p` and `-U` are added
  def initialize(*command)
    @command = command.empty? ? default_command : command
    @port = Servers.free_port
    start
  end

  def address = "127.0.0.1:#{port}"

  def start
    5.times do
      @pid = spawn(*@command, "-l", "127.0.0.1", "-p", port.to_s, "-U", "0", in: File::NULL, out: File::NULL,
        err: File::NULL)
      Guard.kill_at_end(@pid)
      return self if answers?
      kill
    end
    raise "#{@command.first} does not start"
  end

  # The server loses its values, and its connections are reset.
  def kill
    return unless @pid
    Process.kill("KILL", @pid)
    Process.wait(@pid)
    @pid = nil
  end

  # The server accepts bytes and sends nothing, like a server whose host swaps. Each of its threads has stopped when
  # this returns.
  def freeze_up
    Process.kill("STOP", @pid)
    sleep 0.001 until Dir["/proc/#{@pid}/task/*/stat"].all? { |path| File.read(path)[/\) (\w)/, 1] == "T" }
  end

  def thaw = Process.kill("CONT", @pid)

  private

  def default_command = ["memcached", "-m", "64", "-c", "4096", "-t", "1", *(%w[-u nobody] if Process.uid.zero?)]

  def answers?
    1000.times do
      return TCPSocket.open("127.0.0.1", port) { |socket| socket.write("stats\r\n") && socket.gets } ==
          "STAT pid #{@pid}\r\n"
    rescue SystemCallError
      return false if Process.wait(@pid, Process::WNOHANG)
      sleep 0.01
    end
    false
  end
end
