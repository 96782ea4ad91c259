# frozen_string_literal: true

require_relative "helper"

class EventMachineProcessesTest < EventMachineTest
  def test_send_data_is_the_childs_input_and_its_output_is_received
    log = []
    em do
      connection = EM.popen("cat", handler(receive_data: ->(data) { log << data && close_connection }, unbind: lambda do
        log << get_status.class
        EM.stop
      end))
      connection.send_data("through cat")

      assert_kind_of Integer, connection.get_pid
      assert_nil connection.get_status
    end

    assert_equal ["through cat", Process::Status], log
  end

  def test_system_returns_output_and_status
    log = []
    pid = nil
    em do
      pid = EM.system("sh", "-c", "echo out; exit 3") do |output, status|
        log << output << status.exitstatus << status.pid
        EM.stop
      end
    end

    assert_equal ["out\n", 3, pid], log
  end

  def test_system_takes_a_proc_for_the_input
    log = []
    em do
      EM.system("sh", ->(child) { child.send_data("echo hello\nexit\n") }, lambda do |output, status|
        log << output << status.success?
        EM.stop
      end)
    end

    assert_equal ["hello\n", true], log
  end

  def test_a_string_is_split_into_words_but_no_shell_runs
    output = nil
    em { EM.system("echo 'a  b' \\$HOME") { |text, _| (output = text) && EM.stop } }

    assert_equal "a  b $HOME\n", output
  end

  def test_an_unknown_command_has_status_127
    status = nil
    em { EM.system("/nowhere/at/all") { |_, one| (status = one) && EM.stop } }

    assert_equal 127, status.exitstatus
  end

  def test_a_child_that_does_not_end_is_terminated
    status = nil
    em do
      EM.popen("sleep 60", handler(unbind: -> { (status = get_status) && EM.stop })) do |child|
        EM.next_tick { child.close_connection }
      end
    end

    assert_equal Signal.list["TERM"], status.termsig
  end

  def test_the_output_is_the_value_of_a_deferrable
    output = nil
    em { EM::DeferrableChildProcess.open("echo out").callback { |text| (output = text) && EM.stop } }

    assert_equal "out\n", output
  end

  def test_stop_ends_children
    pid = nil
    unbound = false
    em do
      pid = EM.popen("sleep 60", handler(unbind: -> { unbound = true })).get_pid
      EM.stop
    end

    assert unbound
    eventually("the child's end") { ended?(pid) }
    eventually("the end of the zombie") do
      Process.kill(0, pid).zero?
    rescue Errno::ESRCH
      true
    end
  end
end
