# frozen_string_literal: true

require "json"
require "pelton/cluster"
require "socket"
require "tmpdir"
require_relative "sockets"

# Runs cluster_program.rb, and sends requests to its workers.
module Clusters
  PROGRAM = File.expand_path("cluster_program.rb", __dir__)

  private

  def cluster(*options, env: {}, serving: true)
    Dir.mktmpdir do |folder|
      @port, @control, @log, @status, @enough = free_port, "#{folder}/control", "#{folder}/log", nil, false
      command = [RbConfig.ruby, PROGRAM, "tcp://127.0.0.1:#{@port}", "2", @control, *options]
      master = Process.spawn(child_environment.merge("RUBYLIB" => Children::LIB).merge(env), *command,
        out: [@log, "a"], err: [:child, :out])
      Guard.kill_at_end(master)
      serving ? eventually("serving") { File.exist?(@control) && workers.size == 2 } : wait_for(master)
      @seen = workers if serving
      yield master
    ensure
      kill(master) if master && !@status
    end
  end

  # Starting processes takes long on a slow machine.
  def eventually(what = "the condition", timeout: 60) = super

  def kill(master)
    Process.kill("TERM", master)
    eventually("the end") { Process.kill("TERM", master) && Process.wait(master, Process::WNOHANG) }
  end

  def stop(master, signal = "TERM")
    Process.kill(signal, master)
    wait_for(master)
  end

  def wait_for(pid)
    eventually("the end") { Process.wait(pid, Process::WNOHANG) }
    @status = $?
  end

  def log = File.read(@log)

  def ask(line) = Socket.tcp("127.0.0.1", @port) { |socket| socket.write(line) && socket.gets }

  def control(path)
    Sockets.answer_from(@control, "GET #{path} HTTP/1.1\r\n\r\n").split("\r\n\r\n").fetch(1)
  end

  def cluster_stats
    JSON.parse(control("/stats"))
  rescue Errno::ENOENT, Errno::ECONNREFUSED, IndexError
    {"workers" => []} # one master has ended, and the next one does not answer yet
  end

  def ready_workers = cluster_stats["workers"].select { |worker| worker["ready"] }

  def workers = ready_workers.map { |worker| worker["pid"] }

  def living(pids)
    pids.select do |pid|
      Process.kill(0, pid)
    rescue Errno::ESRCH
      false
    end
  end
end
