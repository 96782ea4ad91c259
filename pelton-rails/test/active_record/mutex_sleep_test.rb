# frozen_string_literal: true

require "test_helper"

class MutexSleepTest < PeltonTest
  # In a separate process: it changes a class of Ruby's.
  def test_a_wait_that_is_ended_raises_what_has_ended_it
    assert_equal <<~TEXT, ruby_output(<<~'RUBY')
      mutex: Pelton::Cancelled, Pelton::TimeoutError, free again: true
      condition: Pelton::Cancelled, Pelton::TimeoutError, free again: true
      monitor: Pelton::Cancelled, Pelton::TimeoutError, free again: true
      woken: true
    TEXT
      require "monitor"
      require "pelton"
      require "pelton/active_record/mutex_sleep"
      Pelton::ActiveRecord::MutexSleep.install
      mutex, condition, monitor = Mutex.new, ConditionVariable.new, Monitor.new
      waits = {
        "mutex" => [mutex, -> { mutex.synchronize { mutex.sleep(5) } }],
        "condition" => [mutex, -> { mutex.synchronize { condition.wait(mutex) } }],
        "monitor" => [monitor, -> { monitor.synchronize { monitor.new_cond.wait(5) } }]
      }
      Pelton.run do
        waits.each do |name, (lock, wait)|
          cancelled = Pelton.spawn(&wait)
          limited = Pelton.spawn { Pelton.timeout(0.02, &wait) }
          sleep 0.01
          cancelled.cancel
          ended = [cancelled, limited].map do |task|
            task.await
          rescue Pelton::Cancelled, Pelton::TimeoutError => error
            error.class
          end
          puts "#{name}: #{ended.join(", ")}, free again: " \
            "#{lock.try_enter.tap { lock.exit } if lock.is_a?(Monitor)}#{lock.try_lock if lock.is_a?(Mutex)}"
          lock.unlock if lock.is_a?(Mutex)
        end
        woken = Pelton.spawn { mutex.synchronize { condition.wait(mutex) && mutex.owned? } }
        sleep 0.01
        mutex.synchronize { condition.signal }
        puts "woken: #{woken.await}"
      end
    RUBY
  end
end
