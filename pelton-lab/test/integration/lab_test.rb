# frozen_string_literal: true

require "test_helper"
require "open3"
require "tempfile"
require_relative "small_runs"

# The experiments that come with Pelton, on real servers and small: every contender that can run here answers rightly.
class LabIntegrationTest < PeltonTest
  include SmallRuns

  self.deadline = 240

  {"memcached" => 50, "crossover" => 4, "transfer" => 1, "waiting" => 100, "eventmachine" => 64, "cache" => 800,
   "finds" => 200}.each do |name, size|
    define_method(:"test_#{name}") { run_small(name, "--size", size.to_s, "--peers", "--deadline", "120") }
  end

  # The example of the guide.
  def test_an_experiment_of_ones_own
    output, status = Open3.capture2e(RbConfig.ruby, "-I", Children::LIBRARIES, File.join(ROOT, "exe/pelton"), "lab",
      File.join(ROOT, "pelton-lab/examples/three_services.rb"), "--size", "2", "--rounds", "1")

    assert_predicate status, :success?, output
    assert_match(/^three services: ask them \(not pinned; 0 ms of round trip; 2 pages; 1 round; a slow service\)$/,
      output)
    ["one after the other", "a thread each", "Pelton, a fiber each"].each do |name|
      assert_match(/^  #{name} .* 2 +\d/, output)
    end
    refute_match(/refused|skipped/, output)
  end

  def test_a_contender_that_hangs_is_cut_with_all_that_it_started
    processes = Pelton::Lab::Processes.new
    Tempfile.create("pid") do |file|
      ENV["PELTON_LAB_FAKE"] = file.path
      job = {path: File.join(ROOT, "pelton-lab/test/fakes.rb"), experiment: "fakes", race: "deadlines",
             contender: "hanging with a child", size: 1}
      outcome = Pelton::Lab::Trial.new(processes, job, deadline: 3).run

      assert_equal :hung, outcome.status
      assert_equal "no end within 3 s: cut", outcome.reason
      refute_empty pid = File.read(file.path)
      eventually("the end of its child") { ended?(pid.to_i) }
    ensure
      ENV.delete("PELTON_LAB_FAKE")
      processes.stop_all
    end
  end

  # However it ends: by Ctrl-C, by a supervisor, or killed.
  def test_server_proxy_and_contender_end_with_the_lab
    skip "no setpriv" unless Pelton::Lab::Programs.find("setpriv")
    %i[INT TERM KILL].each do |signal|
      lab = spawn(RbConfig.ruby, "-I", Children::LIBRARIES, File.join(ROOT, "exe/pelton"), "lab", "crossover",
        "--latency", "50", "--size", "1000",
        out: File::NULL, err: File::NULL)
      started = eventually("a server, a proxy and a contender") { children(lab).then { |pids| pids if pids.size >= 3 } }
      Process.kill(signal, lab)
      status = Process.wait2(lab).last

      assert_equal (signal == :INT) ? 130 : Signal.list.fetch(signal.to_s), status.exitstatus || status.termsig
      eventually("the end of all that #{signal} left") { started.all? { |pid| ended?(pid) } }
    end
  end

  private

  def children(pid)
    Dir["/proc/[0-9]*/stat"].filter_map do |path|
      (File.read(path)[/\) \S (\d+)/, 1].to_i == pid) ? path[/\d+/].to_i : nil
    rescue Errno::ENOENT, Errno::ESRCH
      nil
    end
  end
end
