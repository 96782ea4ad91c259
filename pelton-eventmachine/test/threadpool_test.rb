# frozen_string_literal: true

require_relative "helper"

class EventMachineThreadpoolTest < EventMachineTest
  def test_the_operation_runs_in_a_thread_and_the_callback_in_the_loop
    log = []
    em do
      EM.defer(-> { log << EM.reactor_thread?; 5 }, lambda { |value| # standard:disable Style/Semicolon
        log << value << EM.reactor_thread? << EM.defers_finished?
        EM.stop
      })
      log << EM.defers_finished?
    end

    assert_equal [5, true, true], log.last(3)
    assert_equal [false, false], log.first(2)
  end

  def test_an_error_goes_to_the_errback
    message = nil
    em do
      EM.defer(-> { raise "broken" }, nil, lambda { |error|
        message = error.message
        EM.stop
      })
    end

    assert_equal "broken", message
  end

  def test_without_an_errback_it_goes_to_the_error_handler_or_out_of_run
    message = nil
    EM.error_handler do |error|
      message = error.message
      EM.stop
    end
    em { EM.defer { raise "broken" } }

    assert_equal "broken", message
    EM.error_handler
    assert_raises(ArgumentError) { em { EM.defer { raise ArgumentError } } }
  end

  def test_an_idle_thread_is_used_before_another_is_started
    threads = []
    em do
      again = lambda do |thread|
        threads << thread
        next EM.stop if threads.size == 3
        once(-> { EM.threadpool.all?(&:stop?) }) { EM.defer(-> { Thread.current }, again) }
      end
      EM.defer(-> { Thread.current }, again)
    end

    assert_equal 1, threads.uniq.size
  end

  def test_threadpool_size_limits_concurrent_operations
    before = EM.threadpool_size
    EM.threadpool_size = 2
    running = most = 0
    lock = Mutex.new
    left = 6
    em do
      6.times do
        EM.defer(lambda do
          lock.synchronize { most = [most, running += 1].max }
          sleep 0.005
          lock.synchronize { running -= 1 }
        end, ->(_) { EM.stop if (left -= 1).zero? })
      end

      assert_equal 2, EM.threadpool.size
    end

    assert_equal 2, most
  ensure
    EM.threadpool_size = before
  end
end
