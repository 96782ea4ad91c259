# frozen_string_literal: true

require_relative "../test_helper"

# Every way in which a fiber can wait, given up when the grace time is over. A process of its own goes through all of
# them: Ruby would abort it, when a thread or the process ends, if the record of a fiber were left in a list of Ruby's.
class GiveUpTest < PeltonTest
  self.deadline = 60

  PROGRAM = <<~RUBY
    require "#{File.join(ROOT, "test/support/given_up_waits.rb")}"
    GivenUpWaits.new(ARGV.fetch(0)).call(ARGV.fetch(1))
  RUBY

  ["waits in ensure", "retries", "retries after an ensure", "never leaves"].each do |style|
    %w[main other].each do |thread|
      define_method("test_a_fiber_that_#{style.tr(" ", "_")}_on_the_#{thread}_thread") do
        assert_equal "done\n", ruby_output(PROGRAM, style, thread, deadline: 50)
      end
    end
  end

  # As a job's thread does that stops a reactor, when the ensure of a task waits for a helper thread.
  def test_a_thread_that_is_joined_outlives_its_joiner
    assert_equal "alive", ruby_output(<<~RUBY)
      require "pelton"
      Pelton.logger = nil
      helpers = []
      Thread.new do
        Pelton.run(grace: 0.01) do
          10.times do
            Pelton.spawn do
              helpers << (helper = Thread.new { Thread.stop })
              sleep
            ensure
              helper.join
            end
          end
          sleep 0.001 until helpers.size == 10
          Pelton.stop
        end
      end.join
      GC.start
      helpers.each { |helper| Thread.pass until helper.stop? }.each(&:wakeup).each(&:join)
      print "alive"
    RUBY
  end

  def test_a_thread_that_is_killed_gives_its_fibers_up
    assert_equal "ended 3", ruby_output(<<~'RUBY')
      require "pelton"
      Pelton.logger = nil
      helper = Thread.new { Thread.stop }
      began, ended = Queue.new, Queue.new
      thread = Thread.new do
        Pelton.run(grace: 0.01) do
          3.times do
            Pelton.spawn do
              began << true
              helper.join
            rescue Pelton::Cancelled
              retry
            ensure
              ended << true
            end
          end
          sleep
        end
      end
      3.times { began.pop }
      thread.kill.join
      GC.start
      Thread.pass until helper.stop?
      helper.wakeup.join
      print "ended #{ended.size}"
    RUBY
  end

  # The fiber that waits last is ended first. The other one gets the Mutex when its holder is ended: if it were ended
  # now, it would not pass the Mutex on.
  def test_a_fiber_that_got_its_mutex_meanwhile_uses_it
    assert_equal %w[held got free], ruby_output(<<~RUBY).split
      require "pelton"
      Pelton.logger = nil
      mutex = Mutex.new
      Pelton.run(grace: 0.01) do
        Pelton.spawn do
          mutex.synchronize do
            sleep
          ensure
            begin
              sleep
            ensure
              puts "held"
            end
          end
        end
        2.times do
          Pelton.spawn do
            mutex.synchronize { puts "got" }
          rescue Pelton::Cancelled
            retry
          end
        end
        sleep 0.001
        Pelton.stop
      end
      puts "free" if mutex.try_lock
    RUBY
  end
end
