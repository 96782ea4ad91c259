# frozen_string_literal: true

require "etc"
require "net/http"
require "socket"

# A server in a process of its own that answers "hello\n", and its measurements: requests a second, and its CPU seconds for each.
# Servers have one core, wrk has the other.
class Subject
  PIN = (Etc.nprocessors > 1) ? [%w[taskset -c 0], %w[taskset -c 1]] : [[], []]
  SECONDS = Integer(ENV.fetch("SECONDS", "1"))
  TICKS = Etc.sysconf(Etc::SC_CLK_TCK).to_f
  private_constant :PIN, :SECONDS, :TICKS

  attr_reader :name, :rates, :costs

  def initialize(name, environment = {}, *command, path: "/")
    @name, @rates, @costs = name, [], []
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    command = yield(@port) if block_given?
    command = command.map { |part| part.sub("PORT", @port.to_s) }
    @path = path
    @pid = Process.spawn(environment, *PIN[0], *command, out: File::NULL)
    at_exit { stop }
    100.times { break if answers? || !sleep(0.05) }
    answers? || abort("#{name} does not answer hello")
  end

  # Checks the response before it is timed.
  def answers?
    response = Net::HTTP.get_response("127.0.0.1", @path, @port)
    response.code == "200" && response.body == "hello\n"
  rescue SystemCallError, EOFError
    false
  end

  def measure
    before = cpu
    output = IO.popen([*PIN[1], "wrk", "-t1", "-c64", "-d#{SECONDS}s", "http://127.0.0.1:#{@port}#{@path}"], &:read)
    requests = output[/(\d+) requests in/, 1].to_i
    abort "#{@name}: #{output}" if requests.zero? || output.include?("Non-2xx")
    @costs << (cpu - before) / requests
    @rates << output[/Requests\/sec:\s+([\d.]+)/, 1].to_f
  end

  # CPU seconds of the server and its children.
  def cpu
    pids = [@pid, *File.read("/proc/#{@pid}/task/#{@pid}/children").split]
    pids.sum { |pid| File.read("/proc/#{pid}/stat")[/\) (.*)/, 1].split[11, 2].sum(&:to_i) } / TICKS
  end

  def stop
    Process.kill("TERM", @pid)
    Process.wait(@pid)
  rescue SystemCallError
    nil
  end
end
