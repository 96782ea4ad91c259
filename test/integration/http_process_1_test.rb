# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/running_program"
require_relative "../support/sockets"

# pelton serve as process 1, as in a container: the kernel drops signals that process 1 does not handle, and gives it
# the processes whose parents have ended.
class HTTPProcess1Test < PeltonTest
  include RunningPrograms
  include Sockets

  self.deadline = 120

  UNSHARE = %w[unshare --pid --fork --mount-proc].freeze
  POSSIBLE = system(*UNSHARE, "true", out: File::NULL, err: File::NULL)

  def setup
    skip "unshare --pid needs root" unless POSSIBLE
  end

  def test_it_ends_by_term_and_int
    [0, 1].product(%w[TERM INT]).each do |workers, signal|
      serving("run ->(env) { [200, {}, []] }", workers) do |pid, dir|
        eventually("the server", timeout: 60) do
          File.socket?("#{dir}/s") && File.read("#{dir}/log").match?(/listens|serve/)
        end
        Process.kill(signal, pid)

        assert_equal 0, wait_for_end, File.read("#{dir}/log")
      end
    end
  end

  def test_it_ends_while_it_loads
    serving("File.write('loading', ''); sleep", 0) do |pid, dir|
      eventually("the application", timeout: 60) { File.exist?("#{dir}/loading") }
      Process.kill("TERM", pid)

      refute_nil wait_for_end
    end
  end

  def test_a_master_waits_for_processes_without_parents
    app = "run ->(env) { system('sleep 0.05 & echo $! > orphan'); [200, {}, []] }"
    serving(app, 1) do |pid, dir|
      eventually("the server", timeout: 60) { File.socket?("#{dir}/s") && File.read("#{dir}/log").include?("serves") }
      answer_from("#{dir}/s", "GET / HTTP/1.0\r\n\r\n")
      workers = children(pid).size

      assert_path_exists "#{dir}/orphan"
      eventually("the orphan's end", timeout: 60) do
        children(pid).then { |all| all.size == 1 && all.none? { |child| zombie?(child) } }
      end
      assert_operator workers, :>=, 1
      Process.kill("TERM", pid)

      assert_equal 0, wait_for_end
    end
  end

  private

  # Gives the server's process id, outside of its namespace, and its folder.
  def serving(app, workers)
    Dir.mktmpdir do |dir|
      File.write("#{dir}/config.ru", app)
      File.write("#{dir}/pelton.rb", "bind 'unix://s'; workers #{workers}")
      @outer = start_program(*UNSHARE, *PELTON, "serve", folder: dir).pid
      yield eventually("the process") { children(@outer).first }, dir
    ensure
      kill_all
    end
  end

  # unshare ends with the status of the server.
  def wait_for_end
    _, status = eventually("the end", timeout: 60) { Process.wait2(@outer, Process::WNOHANG) }
    @outer = nil
    status.exitstatus
  end

  def kill_all
    return unless @outer
    children(@outer).each { |pid| Process.kill("KILL", pid) }
    Process.wait(@outer)
  end

  def children(pid)
    File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)
  rescue Errno::ENOENT, Errno::ESRCH
    []
  end

  def zombie?(pid)
    File.read("/proc/#{pid}/stat").match?(/\) Z /)
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end
end
