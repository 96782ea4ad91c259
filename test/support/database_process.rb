# frozen_string_literal: true

require "socket"
require_relative "databases"

# A database of one test's own, that freezes, dies and comes back.
class DatabaseProcess
  attr_reader :port

  # @param signal [String] by which it dies, with the processes that it has made
  # @yieldparam port [Integer]
  # @yieldreturn [Array<String>] the command, which does not put itself into the background
  def initialize(signal)
    @signal = signal
    @port = Servers.free_port
    @command = yield @port
    start
  end

  def start
    @pid = Process.spawn(*@command, in: File::NULL, out: File::NULL, err: File::NULL, chdir: "/")
    Guard.kill_at_end(@pid)
    begin
      TCPSocket.new("127.0.0.1", @port).close
    rescue Errno::ECONNREFUSED
      sleep 0.01
      retry
    end
  end

  # The kernel goes on to take connections and bytes.
  def freeze! = signal("STOP")

  def thaw! = signal("CONT")

  def die!
    thaw!
    Process.kill(@signal, @pid)
    Process.wait(@pid)
  end

  private

  def signal(name) = processes.each { |pid| Process.kill(name, pid) }

  # PostgreSQL has one for each connection.
  def processes = [@pid, *File.read("/proc/#{@pid}/task/#{@pid}/children").split.map(&:to_i)]
end
