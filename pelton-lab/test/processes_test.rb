# frozen_string_literal: true

require "test_helper"
require "pelton/lab/pinning"
require "pelton/lab/processes"
require_relative "with_processes"

class LabProcessesTest < PeltonTest
  include WithProcesses

  def test_all_are_stopped_also_one_that_stands_still
    pids = Array.new(2) { @processes.start("sleep", "1000") }
    Process.kill(:STOP, pids.last)
    @processes.stop_all

    pids.each { |pid| assert_raises(Errno::ESRCH) { Process.kill(0, pid) } }
  end

  def test_children_of_a_process_end_with_it
    reader, writer = IO.pipe
    pid = @processes.start("sh", "-c", "sleep 1000 & echo; wait", out: writer)
    reader.gets
    @processes.stop(pid)
    writer.close

    assert_nil reader.gets, "its child still holds the pipe"
  end

  def test_stopping_twice_is_no_error
    pid = @processes.start("sleep", "1000")
    2.times { @processes.stop(pid) }

    assert_raises(Errno::ESRCH) { Process.kill(0, pid) }
  end

  def test_waiting_gives_the_status
    assert_equal 3, @processes.wait(@processes.start("sh", "-c", "exit 3")).exitstatus
  end

  def test_none_outlives_the_lab_even_when_it_is_killed
    skip "no setpriv" unless Pelton::Lab::Programs.find("setpriv")
    output, = run_ruby(<<~RUBY)
      require "pelton/lab/processes"
      $stdout.sync = true
      puts pid = Pelton::Lab::Processes.new.start("sleep", "1000", out: File::NULL)
      sleep 0.01 until File.read("/proc/\#{pid}/comm") == "sleep\n"
      Process.kill(:KILL, $$)
    RUBY

    assert_operator pid = output.to_i, :>, 0
    eventually("its end") { !File.exist?("/proc/#{pid}") || File.read("/proc/#{pid}/stat").match?(/\) [ZX] /) }
  end

  def test_pinned_to_a_core
    skip "no taskset" if Pelton::Lab::Pinning.unavailable(:same)
    core = Pelton::Lab::Pinning.allowed.last
    reader, writer = IO.pipe
    @processes.wait(@processes.start("grep", "Cpus_allowed_list", "/proc/self/status", core:, out: writer))
    writer.close

    assert_equal core.to_s, reader.read[/\d+$/]
  end

  def test_a_server_that_does_not_say_its_port_is_unavailable
    require "pelton/lab"

    assert_raises(Pelton::Lab::Unavailable) { @processes.serve_ruby("statistics.rb") }
  end
end
