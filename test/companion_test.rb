# frozen_string_literal: true

require "tmpdir"
require_relative "test_helper"
require_relative "support/captured_log"
require "pelton/companion"

# A program beside a server. How a server and its companions stop together is in integration/companion_test.rb.
class CompanionUnitTest < PeltonTest
  include CapturedLog

  # One that sleeps by now: a signal then does not come while Ruby starts.
  def sleeping(before = "", &ended)
    Dir.mktmpdir do |folder|
      ready = "#{folder}/ready"
      companion("#{before}; File.write(#{ready.dump}, ''); sleep 1 while true", &ended).tap do
        eventually("the companion") { File.exist?(ready) }
      end
    end
  end

  # One that ignores the signal.
  def stubborn = sleeping("trap('TERM') {}")

  def companion(code, &ended) = Pelton::Companion.new([RbConfig.ruby, "-e", code], &ended)

  def test_it_is_asked_to_end
    ended = false
    one = sleeping { ended = true }
    one.stop
    one.wait(30)

    refute ended, "told as an end of its own"
    refute_predicate one, :failed?
    assert_raises(Errno::ESRCH) { Process.kill(0, one.pid) }
  end

  def test_its_own_end_is_told_and_logged
    told = Queue.new
    one = companion("exit 3") { told << true }
    one.wait(30)

    assert told.pop
    assert_predicate one, :failed?
    assert_match(/-e exit 3 has ended \(pid \d+ exit 3\), and so does this server/, log)
  end

  def test_one_that_does_not_end_is_killed
    one = stubborn
    one.stop
    one.wait(0.1)

    assert_raises(Errno::ESRCH) { Process.kill(0, one.pid) }
    assert_match(/did not end within 0.1 s, and is killed/, log)
  end

  # Several have the same time, however many there are.
  def test_its_time_begins_when_it_is_asked
    one = stubborn
    now = Pelton::Clock.now
    Pelton::Clock.stub(:now, -> { now }) do
      one.stop
      now += 100
      one.wait(100)
    end

    assert_match(/did not end within 100 s, and is killed/, log)
  end

  def test_a_child_that_inherits_it_leaves_it_alone
    one = sleeping
    Process.wait(fork do
      one.stop
      one.wait(0)
      exit!(0)
    end)

    assert_equal 1, Process.kill(0, one.pid)
  ensure
    one.stop
    one.wait(30)
  end

  def test_a_program_that_is_not_there
    assert_raises(Errno::ENOENT) { Pelton::Companion.new(["/no/such/program"]) }
  end
end
