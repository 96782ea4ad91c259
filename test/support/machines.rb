# frozen_string_literal: true

require "fileutils"
require "open3"
require "tmpdir"

# Machines on one network, for tests of what several of them do: a network namespace each, whose only link leads to a
# switch. Needs root. Nothing outside of the namespaces can reach them.
class Machines
  NETWORK = "10.77.0"

  # @return [Boolean] whether this process may make network namespaces
  def self.possible?
    name = "pelton-try-#{Process.pid}"
    Process.uid.zero? && system("ip", "netns", "add", name, out: File::NULL, err: File::NULL) && system("ip", "netns",
      "delete", name)
  end

  # @param names [Array<Symbol>]
  def initialize(*names)
    @names = names
    @pids = {}
    ip("netns", "add", space(:switch))
    ip("-n", space(:switch), "link", "add", "bridge", "type", "bridge")
    ip("-n", space(:switch), "link", "set", "bridge", "up")
    names.each { |name| add(name) }
  end

  # @return [String] the machine's IP address
  def address(name) = "#{NETWORK}.#{@names.index(name) + 1}"

  # Starts a program on a machine. Its output goes to a file.
  #
  # @return [Integer] its pid
  def start(name, *command, log:, env: {}, **options)
    pid = Process.spawn(env, "ip", "netns", "exec", space(name), *command, :in => File::NULL,
      %i[out err] => [log, "a"], :pgroup => true, **options)
    @pids[pid] = log
    Guard.kill_at_end(pid)
    pid
  end

  # Runs a program on a machine to its end.
  #
  # @return [String] its output
  def run(name, *command, env: {}, **options)
    output, status = Open3.capture2e(env, "ip", "netns", "exec", space(name), *command, **options)
    raise "#{command.join(" ")} on #{name}: #{status}\n#{output}" unless status.success?
    output
  end

  # Signals a program, and waits until it has ended.
  def stop(pid, signal = :TERM)
    Process.kill(signal, pid)
    Process.wait(pid)
    @pids.delete(pid)
  end

  # Pulls a machine's cable, or puts it back.
  def link(name, state) = ip("-n", space(:switch), "link", "set", "to-#{name}", state.to_s)

  # Kills what still runs, and removes the machines.
  def close
    @pids.each_key do |pid|
      Process.kill(:KILL, -pid)
      Process.wait(pid)
    rescue Errno::ESRCH, Errno::ECHILD
      nil
    end
    [:switch, *@names].each { |name| system("ip", "netns", "delete", space(name)) }
  end

  private

  def space(name) = "pelton-#{Process.pid}-#{name}"

  def add(name)
    ip("netns", "add", space(name))
    ip("-n", space(name), "link", "set", "lo", "up")
    ip("-n", space(:switch), "link", "add", "to-#{name}", "type", "veth", "peer", "name", "eth0", "netns", space(name))
    ip("-n", space(:switch), "link", "set", "to-#{name}", "master", "bridge", "up")
    ip("-n", space(name), "address", "add", "#{address(name)}/24", "dev", "eth0")
    ip("-n", space(name), "link", "set", "eth0", "up")
  end

  def ip(*arguments)
    output, status = Open3.capture2e("ip", *arguments)
    raise "ip #{arguments.join(" ")}: #{output}" unless status.success?
  end
end
