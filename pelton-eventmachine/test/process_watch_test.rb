# frozen_string_literal: true

require_relative "helper"

class EventMachineProcessWatchTest < EventMachineTest
  def test_process_exited_is_called
    log = []
    pid = Process.spawn("sleep 0.02")
    em do
      EM.watch_process(pid, handler(process_exited: -> { log << :exited }, unbind: -> {
        log << :unbind &&
              EM.stop
      })) do |watch|
        log << watch.pid
      end
    end

    assert_equal [pid, :exited, :unbind], log
  ensure
    Process.wait(pid)
  end

  def test_stop_watching_ends_it
    log = []
    em do
      watch = EM.watch_process(Process.pid, handler(process_exited: -> { log << :never }, unbind: -> {
        log << :unbind &&
              EM.stop
      }))
      watch.stop_watching
    end

    assert_equal [:unbind], log
  end

  def test_an_unknown_process_raises
    em do
      assert_raises(EM::Unsupported) { EM.watch_process(2**22 + 1) }
      EM.stop
    end
  end
end
